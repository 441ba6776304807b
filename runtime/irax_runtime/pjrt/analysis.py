"""Costs and memory of a compiled program, as the plugin reports them."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from irax_runtime.pjrt import abi
from irax_runtime.pjrt.api import Api, named_values
from irax_runtime.pjrt.buffers import dtype_of_type
from irax_runtime.signature import TensorType


def result_types(api: Api, executable: int) -> list[TensorType]:
    """The types of a program's results."""
    types = api.call("Executable_OutputElementTypes", executable=executable)
    shapes = api.call("Executable_OutputDimensions", executable=executable)
    count = types.num_output_types
    numbers = _array(ctypes.c_int, types.output_types, count)
    ranks = _array(ctypes.c_size_t, shapes.dim_sizes, count)
    lengths = iter(_array(ctypes.c_int64, shapes.dims, sum(ranks)))
    return [
        TensorType(dtype_of_type(number), tuple(next(lengths) for _ in range(rank)))
        for number, rank in zip(numbers, ranks, strict=True)
    ]


def serialized(api: Api, executable: int) -> bytes:
    """The program as bytes. Raises PjrtError where the plugin cannot do that."""
    made = api.call("Executable_Serialize", executable=executable)
    try:
        return ctypes.string_at(made.serialized_bytes, made.serialized_bytes_size)
    finally:
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(made.serialized_executable_deleter)
        free(made.serialized_executable)


def costs(api: Api, executable: int) -> dict[str, Any]:
    """The compiler's estimates for one call: `flops`, `bytes accessed`, `optimal_seconds`, ...

    XLA counts -1 for an operation that it cannot judge: a sum below zero is unknown, and nan here.

    Raises:
        PjrtError: the plugin does not tell.
    """
    found = api.call("Executable_GetCostAnalysis", executable=executable)
    told = named_values(found.properties, found.num_properties)
    return {name: math.nan if _is_below_zero(value) else value for name, value in told.items()}


def _is_below_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value < 0


def memory(api: Api, executable: int) -> dict[str, int]:
    """The bytes that a call needs, for code, arguments, results, temporaries and at its peak.

    Raises:
        PjrtError: the plugin does not tell.
    """
    found = api.call("Executable_GetCompiledMemoryStats", executable=executable)
    names = [field[0] for field in abi.Executable_GetCompiledMemoryStats_Args._fields_]
    return {name: getattr(found, name) for name in names if name.endswith("_in_bytes")}


def _array(kind: Any, address: int | None, count: int) -> list[int]:
    return list((kind * count).from_address(address)) if address and count else []
