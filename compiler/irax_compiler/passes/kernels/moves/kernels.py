"""Kernels as functions of memory, and their dispatches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2s
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value, dtype_of, shape_of
from irax_compiler.ops.registers import index, signless_dtype
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.executables import add_executable, sizes_of_function
from irax_compiler.passes.kernels.executables import dispatch as dispatch_of
from irax_compiler.passes.kernels.loops.memory import seen_as
from irax_compiler.sizes import Size

Body = Callable[[list[Value]], None]
"""Builds a kernel from the bindings of its operands, and of the result."""


def name_of(kind: str, count: Any, kernel: object) -> str:
    """Return a name that no other kernel has: one's text says all that its code depends on."""
    digest = blake2s(repr(kernel).encode(), digest_size=8).hexdigest()
    return f"{kind}_{'any' if isinstance(count, Size) else count}_{digest}"


def dispatch(
    name: str,
    operands: Sequence[Value],
    like: Value,
    counts: tuple[int, int],
    body: Body,
    in_place: int | None = None,
    other: tuple[Sequence[Any], np.dtype] | None = None,
) -> Value:
    """Build a dispatch of a kernel with the given numbers of workgroups, with a result of the type
    of `like`, or of `other` shape and dtype, which may be in the memory of the operand with the
    number `in_place`. A kernel of the name that the module has already is used again.
    """
    module = mlir.open_module()
    sizes, arrays = sizes_of_function(), len(operands) + 1
    if mlir.unique_name(module, name) == name:
        ties = {} if in_place is None else {len(operands): in_place}
        add_executable(
            module, name, counts, arrays, lambda _, given: body(given), sizes=sizes, in_place=ties
        )
    # Dispatches take no unsigned integers.
    operands = [seen_as(x, signless_dtype(dtype_of(x))) for x in operands]
    extents, dtype = (shape_of(like), dtype_of(like)) if other is None else other
    type_ = mlir.tensor_type(extents, signless_dtype(dtype))
    (result,) = dispatch_of(name, operands, [type_], sizes=sizes)
    return seen_as(result, dtype)


def in_registers(
    size: int, width: int, body: Callable[[Value, int], None], overlap: bool = False
) -> None:
    """Build `body` for the places of registers of `width` elements that hold `size` elements. The
    rest is in a narrower one, or with `overlap` in the last `width` elements of all.
    """
    whole = size - size % width
    if whole == width:
        body(index(0), width)
    elif whole:
        for_each(index(0), index(whole), lambda at: body(at, width), width)
    if size > whole and overlap and whole:
        body(index(size - width), width)
    elif size > whole:
        body(index(whole), size - whole)


def bits(dtype: np.dtype) -> Type:
    """Return the integer type of a dtype's width."""
    return mlir.parse_type(f"i{8 * dtype.itemsize}")
