"""Products of small matrices by AMX: registers of two dimensions, which instructions multiply.

A register, which Intel calls a tile, has up to 16 rows of 16 words. A word of a left factor is two
numbers of bfloat16, or four of 8 bits; one of a right factor is what as many of its rows have in a
column. A block of the result is four such registers: the products of two of a left factor and two
of a right one, so that each is used twice. Linux asks for a process's word before the first use
(`irax_runtime/instructions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.registers import constant, emit, equal, index
from irax_compiler.passes.kernels.blas.vector import Vector, pointer
from irax_compiler.passes.kernels.code.intrinsics import call_intrinsic
from irax_compiler.passes.kernels.code.loops import for_each, if_else
from irax_compiler.passes.kernels.code.places import moved, plus
from irax_compiler.passes.kernels.executables import address, long

ROWS = WORDS = 16
"""The rows of a register, and the words of a row."""
SIDE = 2
"""The registers of a block in each direction."""
BYTES = 64
"""The bytes of a row."""
_LEFT, _RIGHT = SIDE * SIDE, SIDE * SIDE + SIDE
"""The numbers of the first registers of factors, which come after those of the block."""
_WORD = Vector(np.dtype(np.int32), BYTES)


class Block:
    """The registers of a block, in a workgroup that has begun to use them.

    Args:
        rows: the rows of a register of the left factor.
        signs: True for the factor of 8-bit integers that is signed; None for numbers of bfloat16.
    """

    def __init__(self, rows: int, signs: tuple[bool, bool] | None) -> None:
        self._rows = rows
        kind = "".join("s" if flag else "u" for flag in signs or ())
        self._multiply = f"tdpb{kind}d" if kind else "tdpbf16ps"
        facts = np.zeros(BYTES, np.uint8)
        facts[0] = 1  # the palette
        facts[16:32:2] = BYTES
        facts[48:56] = [rows if number < _RIGHT else ROWS for number in range(_RIGHT + SIDE)]
        memory = address(_WORD.memory(WORDS))
        _WORD.store(constant(facts.view(np.int32)), memory)
        _call("ldtilecfg", pointer(memory))
        self._rest = address(_WORD.memory(SIDE * rows * WORDS))
        self._out = address(_WORD.memory(SIDE * SIDE * rows * WORDS))

    def end(self) -> None:
        """Release the registers."""
        _call("tilerelease")

    def clear(self) -> None:
        """Zero the registers."""
        for number in range(_LEFT):
            _call("tilezero", _number(number))

    def add(
        self, left: Sequence[Value], distance: int, depth: Value, right: Value, width: int
    ) -> None:
        """Add products of rows of `depth` words.

        Args:
            left: the addresses of the registers of the left factor.
            distance: the bytes between rows of these.
            depth: the words of a row.
            right: the address of the right factor, whose rows beyond `depth` are zeros up to a
                whole register.
            width: the bytes between rows of the right factor.
        """
        whole = emit("arith.divui", depth, index(WORDS))
        rest = emit("arith.remui", depth, index(WORDS))

        def step(places: Sequence[Value], stride: int, number: Value) -> None:
            there = moved(right, number, ROWS * width)
            for v in range(SIDE):
                self._load(_RIGHT + v, plus(there, v * BYTES), width)
            for r, place in enumerate(places):
                self._load(_LEFT + r, place, stride)
            for r in range(len(places)):
                for v in range(SIDE):
                    numbers = r * SIDE + v, _LEFT + r, _RIGHT + v
                    _call(self._multiply, *map(_number, numbers))

        for_each(
            index(0),
            whole,
            lambda at: step([moved(x, at, BYTES) for x in left], distance, at),
        )

        def add_rest() -> None:
            mask = _WORD.mask(rest)
            places = [plus(self._rest, r * self._rows * BYTES) for r in range(len(left))]

            def copy(row: Value) -> None:
                for source, target in zip(left, places, strict=True):
                    start = moved(moved(source, whole, BYTES), row, distance)
                    _WORD.store(_WORD.load(start, mask), moved(target, row, BYTES))

            for_each(index(0), index(self._rows), copy)
            step(places, BYTES, whole)

        if_else(equal(rest, 0), lambda: None, add_rest)

    def kept(self, r: int, v: int) -> Value:
        """Store a register of the block in memory without gaps, and return the address."""
        place = plus(self._out, (r * SIDE + v) * self._rows * BYTES)
        _call("tilestored64", _number(r * SIDE + v), pointer(place), long(index(BYTES)))
        return place

    def _load(self, number: int, place: Value, distance: int) -> None:
        _call("tileloadd64", _number(number), pointer(place), long(index(distance)))


def _number(number: int) -> Value:
    attribute = mlir.parse_attribute(f"{number} : i8")
    return emit("llvm.mlir.constant", to=mlir.parse_type("i8"), value=attribute)


def _call(name: str, *operands: Value) -> None:
    call_intrinsic(f"llvm.x86.{name}", operands)
