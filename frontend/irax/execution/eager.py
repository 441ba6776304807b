"""Operations outside of traces on arrays that are on a device: they run there, results stay there.

Each is compiled once for the types of its operands. On the CPU they are NumPy's all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from irax.core.array import Array, ConcreteArray
from irax.core.avals import ShapedArray
from irax.core.tracing import Input, trace_function
from irax.execution import backend
from irax_compiler.ops.core import UnsupportedOp
from irax_runtime.device import Device, Executable

Program = tuple[Executable, list[ShapedArray]]
"""A compiled operation, and the types of its results."""

_programs: dict[Hashable, Program | None] = {}
"""What was compiled; None where the device cannot do it."""


def run(
    key: Hashable,
    function: Callable[..., Sequence[Array]],
    operands: Sequence[Array],
    at_once: Callable[[], Sequence[Array]],
    what: str,
) -> list[Array]:
    """Runs an operation on the device that operands of it were put on.

    Args:
        key: stands for the function: another with the same key does the same. None: it cannot be
            compiled by itself.
        function: the operation, to be traced.
        operands: its operands.
        at_once: the same on these operands, by NumPy: for the CPU, and for what a device cannot do.
        what: what errors call it.

    Raises:
        ValueError: the operands were put on several devices.
    """
    arrays = [x for x in operands if isinstance(x, ConcreteArray)]
    device = backend.device_of(arrays, what)
    assert device is not None
    program = None
    if key is not None and device.platform != "cpu":
        full_key = (device, key, *(x.aval for x in arrays))
        program = _programs.get(full_key)
        if program is None:
            program = _programs[full_key] = _compile(device, function, arrays)
    if program is None:
        return put_where(arrays, at_once(), what)
    executable, avals = program
    results = executable.run([x.buffer(device) for x in arrays])
    return [
        ConcreteArray.of_buffer(buffer, aval, committed=True)
        for buffer, aval in zip(results, avals, strict=True)
    ]


def clear_cache() -> None:
    """Forgets what was compiled."""
    _programs.clear()


def put_where(operands: Sequence[Array], results: Sequence[Array], what: str) -> list[Array]:
    """Puts results that the host has computed on the device that operands were put on."""
    device = backend.device_of(operands, what)
    assert device is not None
    return [x.on(device) for x in results if isinstance(x, ConcreteArray)]


def _compile(
    device: Device, function: Callable[..., Sequence[Array]], arrays: Sequence[Array]
) -> Program | None:
    inputs = [Input(x.aval) for x in arrays]
    traced = trace_function(function, inputs, "an operation", "operation")
    try:
        executable = backend.compile(traced.builder.module, traced.name, device)
    except UnsupportedOp:
        return None
    return executable, traced.results
