"""Devices: operations on arrays that were put on one run there at once, and results stay there.

Each is compiled once for the types of its operands. On the CPU, and where a device cannot do it, it
is NumPy's all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from irax.core.array import Array, ConcreteArray, device_of
from irax.core.avals import ShapedArray
from irax.core.interpreters.interface import Interpreter, R
from irax.core.interpreters.numpy import NumPy
from irax.core.key_arrays import KeyArray
from irax.core.module_builder import ModuleBuilder
from irax.core.operands import Kinds, as_arrays
from irax.core.tracing import Input, concrete_array, innermost, trace_function
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_runtime.device import Device, Executable

Program = tuple[Executable, list[ShapedArray]]
"""A compiled operation, and the types of its results."""

Operation = Callable[..., list[Array]]
"""An operation: of an interpreter to run it, and its operands."""


class OnDevice(Interpreter):
    """The interpreter that runs operations where their operands were put."""

    def __init__(self, numpy: NumPy) -> None:
        self.numpy = numpy
        self._programs: dict[Hashable, Program | None] = {}
        """The compiled operations; None for one that the device cannot run."""

    def clear_cache(self) -> None:
        """Clear the cache of compiled operations."""
        self._programs.clear()

    def run(
        self,
        op: Op,
        operands: Sequence[Array],
        weak_type: bool = False,
        builder: ModuleBuilder | None = None,
    ) -> list[Array]:
        def operation(on: Interpreter, *xs: Array) -> list[Array]:
            return on.run(op, xs, weak_type, builder)

        key = (op, weak_type) if builder is None else None  # an op that names functions of a module
        return self._there(operation, key, operands, op.name)

    def call(
        self, builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
    ) -> list[Array]:
        def operation(on: Interpreter, *xs: Array) -> list[Array]:
            return on.call(builder, name, xs, weak)

        return self._there(operation, None, operands, name)

    def staged(self, run: Callable[[], R], write: Callable[[ModuleBuilder], R]) -> R:
        return run()

    def elementwise(
        self,
        op: Op,
        operands: Sequence[Any],
        what: str,
        dtype_kind: type | None = None,
        accepts: Kinds | None = None,
    ) -> Array:
        def operation(on: Interpreter, *xs: Array) -> list[Array]:
            return [on.elementwise(op, xs, what, dtype_kind, accepts)]

        arrays = as_arrays(operands, what)
        if _have_keys(arrays):
            return super().elementwise(op, arrays, what, dtype_kind, accepts)
        (result,) = self._there(operation, (op, dtype_kind, accepts), arrays, what)
        return result

    def select(self, condition: Array, on_true: Any, on_false: Any, what: str) -> Array:
        def operation(on: Interpreter, *xs: Array) -> list[Array]:
            condition, on_true, on_false = xs
            return [on.select(condition, on_true, on_false, what)]

        arrays = as_arrays((condition, on_true, on_false), what)
        if _have_keys(arrays):
            return super().select(condition, on_true, on_false, what)
        (result,) = self._there(operation, "select", arrays, what)
        return result

    def _there(
        self, operation: Operation, key: Hashable, operands: Sequence[Array], what: str
    ) -> list[Array]:
        """Return the results of an operation on the device of its operands. Operations with equal
        keys share a program; one whose key is None cannot be compiled by itself.

        Raises:
            ValueError: the operands were put on several devices.
        """
        arrays = [concrete_array(x) for x in operands]
        device = device_of(arrays, what)
        if device is None:  # converted to meet others that were put on one
            return operation(self.numpy, *arrays)
        program = None
        if key is not None and device.platform != "cpu":
            full_key = (device, key, *(x.aval for x in arrays))
            program = self._programs.get(full_key)
            if program is None:
                program = self._programs[full_key] = _compile(operation, arrays, device)
        if program is None:
            results = operation(self.numpy, *arrays)
            return [x.on(device) for x in results if isinstance(x, ConcreteArray)]
        executable, avals = program
        buffers = executable.run([x.buffer(device) for x in arrays])
        return [
            ConcreteArray.of_buffer(buffer, aval, committed=True)
            for buffer, aval in zip(buffers, avals, strict=True)
        ]


def _have_keys(arrays: Sequence[Array]) -> bool:
    return any(type(x) is KeyArray for x in arrays)


def _compile(
    operation: Operation, arrays: Sequence[ConcreteArray], device: Device
) -> Program | None:
    from irax.execution import backend

    def traced_operation(*tracers: Array) -> list[Array]:
        assert innermost.trace is not None
        return operation(innermost.trace, *tracers)

    inputs = [Input(x.aval) for x in arrays]
    traced = trace_function(traced_operation, inputs, "an operation", "operation")
    try:
        executable = backend.compile(traced.builder.module, traced.name, device)
    except UnsupportedOp:
        return None
    return executable, traced.results
