"""Devices: operations on arrays that were put on one run there at once, and results stay there.

Each is compiled once for the types of its operands. On the CPU, and where a device cannot do it, it
is NumPy's all the same. Where the devices of a mesh share one buffer, NumPy computes the elements,
and the layouts of results are those that `partition` finds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from irax import dtypes
from irax.config import config
from irax.core.array import Array, ConcreteArray, device_of
from irax.core.avals import ShapedArray, aval_placed
from irax.core.dtypes.operands import Kinds, as_arrays, common_dtype
from irax.core.dtypes.python_ints import check_ints
from irax.core.interpreters.interface import Interpreter, R
from irax.core.interpreters.numpy import NumPy
from irax.core.key_arrays import KeyArray
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings.explicit_axes import is_layout_stated, signature, spec_of, type_of
from irax.core.shardings.memory_spaces import Space
from irax.core.shardings.meshes import get_abstract_mesh
from irax.core.tracing import Input, Traced, concrete_array, innermost, trace_function
from irax_compiler import api
from irax_compiler.mlir import Module
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.sums import WHOLE
from irax_runtime.device import MEMORY_KIND, Device, Executable
from irax_runtime.mesh import MeshDevice, Spec

Program = tuple[Executable, list[ShapedArray]]
"""A compiled operation, and the types of its results."""

Operation = Callable[..., list[Array]]
"""An operation: of an interpreter to run it, and its operands."""


Compile = Callable[[Module, str, Device], Executable]
"""Compiles a function of a module for a device."""


class OnDevice(Interpreter):
    """The interpreter that runs operations where their operands were put."""

    compile: Compile
    """Compiles operations: the backend's, which is above, and hands it down."""

    current_device: Callable[[], Device]
    """Returns the device of arrays that were put nowhere: handed down, too."""

    def __init__(self, numpy: NumPy) -> None:
        self.numpy = numpy
        self._programs: dict[Hashable, Program | None] = {}
        """The compiled operations; None for one that the device cannot run."""

        self._specs: dict[Hashable, Sequence[Spec]] = {}
        """The layouts of results of operations on arrays of a mesh in one buffer."""

        self._types: dict[Hashable, Sequence[ShapedArray]] = {}
        """The types of results of operations on arrays that are not all in the default memory, or
        some of which are still to be summed."""

    def _compiled(
        self,
        operation: Operation,
        arrays: Sequence[ConcreteArray],
        device: Device,
        builder: ModuleBuilder | None = None,
    ) -> Program | None:
        traced = _traced(operation, arrays, builder)
        try:
            executable = self.compile(traced.builder.module, traced.name, device)
        except UnsupportedOp:
            return None
        return executable, traced.results

    def clear_cache(self) -> None:
        """Clear the cache of compiled operations."""
        self._programs.clear()
        self._specs.clear()
        self._types.clear()

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
        return self._there(operation, key, operands, op.name, builder)

    def call(
        self, builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
    ) -> list[Array]:
        def operation(on: Interpreter, *xs: Array) -> list[Array]:
            return on.call(builder, name, xs, weak)

        return self._there(operation, None, operands, name, builder)

    def staged(self, run: Callable[[], R], write: Callable[[ModuleBuilder], R]) -> R:
        return run()

    def beside(self, what: str, x: Array, others: Sequence[Any]) -> Array:
        if isinstance(x, KeyArray):
            return x.with_data(self.beside(what, x.data, others))
        numbers = [y.data if isinstance(y, KeyArray) else y for y in others]
        device = device_of((x, *numbers), what)
        if device is None or not isinstance(x, ConcreteArray) or x.committed:
            return x
        kinds = {y.aval.memory_kind for y in numbers if isinstance(y, ConcreteArray)}
        return x.on(device).in_memory(kinds.pop() if len(kinds) == 1 else MEMORY_KIND)

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
        check_ints(operands, common_dtype(arrays, what, dtype_kind, accepts)[0], what)
        (result,) = self._there(operation, (op, dtype_kind, accepts), arrays, what)
        return result

    def select(self, condition: Array, on_true: Any, on_false: Any, what: str) -> Array:
        def operation(on: Interpreter, *xs: Array) -> list[Array]:
            condition, on_true, on_false = xs
            return [on.select(condition, on_true, on_false, what)]

        arrays = as_arrays((condition, on_true, on_false), what)
        if _have_keys(arrays):
            return super().select(condition, on_true, on_false, what)
        check_ints((on_true, on_false), dtypes.lattice_result_type(*arrays[1:])[0], what)
        (result,) = self._there(operation, "select", arrays, what)
        return result

    def _there(
        self,
        operation: Operation,
        key: Hashable,
        operands: Sequence[Array],
        what: str,
        builder: ModuleBuilder | None = None,
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
        if key is not None and _compiles(device):
            stated = is_layout_stated(), config.no_collectives
            full_key = (device, key, stated, *map(signature, arrays))
            program = self._programs.get(full_key)
            if program is None:
                program = self._programs[full_key] = self._compiled(operation, arrays, device)
        elif _has_pieces(device):
            program = self._compiled(operation, arrays, device, builder)
        if program is None:
            results = [concrete_array(x) for x in operation(self.numpy, *arrays)]
            specs = self._layouts(operation, key, arrays, device, builder)
            types = self._told(operation, key, arrays, builder) or [x.aval for x in results]
            told = list(zip(results, types, strict=True))
            if specs is None:
                return [
                    x.on(device).in_memory(own.memory_kind).with_sums(own.sums) for x, own in told
                ]
            avals = [aval_placed(x.aval, own.memory_kind, own.sums) for x, own in told]
            mesh: Any = device
            pairs = zip(results, specs, strict=True)
            buffers = [mesh.put_shards(x.value, spec, may_alias=True) for x, spec in pairs]
            return _arrays(buffers, avals)
        executable, avals = program
        return _arrays(executable.run([x.buffer(device) for x in arrays]), avals)

    def _told(
        self,
        operation: Operation,
        key: Hashable | None,
        arrays: Sequence[ConcreteArray],
        builder: ModuleBuilder | None,
    ) -> Sequence[ShapedArray] | None:
        """Return types of the results that tell the memories that they are in, and the sums that
        are still to be taken; None if they are whole, in the default memory.

        Raises:
            ValueError: the arrays are in several spaces of memory.
        """
        is_told = builder is not None and (builder.has_memories or builder.has_sums)
        if not is_told and not any(_tells(x.aval) for x in arrays):
            return None
        if key is None:
            return _traced(operation, arrays, builder).results
        full_key = (key, *map(signature, arrays))
        if full_key not in self._types:
            self._types[full_key] = _traced(operation, arrays).results
        return self._types[full_key]

    def _layouts(
        self,
        operation: Operation,
        key: Hashable | None,
        arrays: Sequence[ConcreteArray],
        device: Device,
        builder: ModuleBuilder | None,
    ) -> Sequence[Spec] | None:
        """Return the layouts in which the devices of a mesh would compute the results, or which
        types tell; None if these are not divided.
        """
        if not isinstance(device, MeshDevice):
            return None
        buffers: list[Any] = [x.buffer(device) for x in arrays]
        names_place = builder is not None and builder.place is not None
        if not names_place and all(buffer.is_replicated for buffer in buffers):
            return None
        layouts = tuple(buffer.spec for buffer in buffers)
        if key is None:
            return _layouts_found(operation, arrays, device, layouts, builder)
        told = (get_abstract_mesh(), is_layout_stated())
        full_key = (device, key, layouts, told, config.no_collectives, *(x.aval for x in arrays))
        if full_key not in self._specs:
            self._specs[full_key] = _layouts_found(operation, arrays, device, layouts, None)
        return self._specs[full_key]


def _layouts_found(
    operation: Operation,
    arrays: Sequence[ConcreteArray],
    device: MeshDevice,
    layouts: Sequence[Spec],
    builder: ModuleBuilder | None,
) -> Sequence[Spec]:
    traced = _traced(operation, arrays, builder)
    module, name = traced.builder.module, traced.name
    wanted = [spec_of(aval) for aval in traced.results]
    divided = api.partition(module, name, device.axes, layouts, wanted, device.target)
    return api.layouts_of_results(divided, name)


def _tells(aval: ShapedArray) -> bool:
    return aval.memory_space is not Space.Device or aval.sums != WHOLE


def _arrays(buffers: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Array]:
    return [
        ConcreteArray.of_buffer(buffer, aval, committed=True)
        for buffer, aval in zip(buffers, avals, strict=True)
    ]


def _has_pieces(device: Device) -> bool:
    """True for the devices of a mesh, each of which has but a part of an array."""
    return isinstance(device, MeshDevice) and not device.shares_memory


def _compiles(device: Device) -> bool:
    """True if operations are compiled: on the processor, NumPy is as good."""
    return device.platform != "cpu" or _has_pieces(device)


def _have_keys(arrays: Sequence[Array]) -> bool:
    return any(type(x) is KeyArray for x in arrays)


def _traced(
    operation: Operation, arrays: Sequence[ConcreteArray], builder: ModuleBuilder | None = None
) -> Traced:
    def traced_operation(*tracers: Array) -> list[Array]:
        assert innermost.trace is not None
        return operation(innermost.trace, *tracers)

    inputs = [Input(type_of(x)) for x in arrays]
    return trace_function(traced_operation, inputs, "an operation", "operation", builder=builder)
