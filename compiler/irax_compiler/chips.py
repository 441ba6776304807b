"""Chips that are compiled for: their vector registers, which shape code of irax's own."""

from __future__ import annotations

import contextlib
import ctypes
import platform
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from irax_compiler.once import once


@dataclass(frozen=True)
class VectorRegisters:
    """The vector registers of a processor."""

    number: int
    bytes: int
    """The bytes of one."""
    has_masks: bool = False
    """True if parts of one are loaded and stored, by masks, as fast as the whole."""


SSE, AVX2 = VectorRegisters(16, 16), VectorRegisters(16, 32)
AVX512 = VectorRegisters(32, 64, has_masks=True)
NEON = VectorRegisters(32, 16)

IS_X86 = platform.machine() in ("x86_64", "AMD64")

_OF_CHIPS = {
    "generic": SSE if IS_X86 else NEON,
    "x86-64": SSE,
    "x86-64-v2": SSE,
    "x86-64-v3": AVX2,
    "x86-64-v4": AVX512,
    "sapphirerapids": AVX512,
}

_INSTRUCTIONS = {
    "sapphirerapids": frozenset(
        {
            *("avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16"),
            *("amx_tile", "amx_bf16", "amx_int8"),
        }
    )
}
"""The further instructions of chips with a name, as Linux names them."""

_chip: ContextVar[str] = ContextVar("chip", default="")


def vector_registers() -> VectorRegisters:
    """Return the widest vector registers that the processor multiplies and adds in: the one of
    `compiling_for`, otherwise this one.
    """
    return _OF_CHIPS.get(_chip.get()) or _of_this_processor()


@contextlib.contextmanager
def compiling_for(chip: str) -> Iterator[None]:
    """For the length of a `with` block, code is for a chip, as a target of the processor names it;
    an empty name changes nothing, and chips of other targets stand for this processor.

    >>> with compiling_for("x86-64-v4"):
    ...     vector_registers().bytes
    64
    """
    token = _chip.set(chip or _chip.get())
    try:
        yield
    finally:
        _chip.reset(token)


def multiplies_bytes() -> bool:
    """Return True if the processor adds products of four 8-bit integers to one of 32 bits, in
    vectors of 64 bytes (AVX-512 VNNI).
    """
    return {"avx512_vnni", "avx512bw", "avx512vl"} <= _instructions()


def multiplies_bfloat16() -> bool:
    """Return True if the processor adds products of two pairs of bfloat16 to a float32, in vectors
    of 64 bytes (AVX-512 BF16), faster than it multiplies floats: those with AMX do not.
    """
    found = _instructions()
    return {"avx512_bf16", "avx512bw", "avx512vl"} <= found and "amx_tile" not in found


def multiplies_blocks() -> bool:
    """Return True if the processor multiplies small matrices of bfloat16 and 8-bit integers (AMX),
    and the system lets this process do so, if code is for this processor.
    """
    has_it = {"amx_tile", "amx_bf16", "amx_int8", "avx512bw", "avx512vl"} <= _instructions()
    return has_it and (_chip.get() in _OF_CHIPS or may_use_blocks())


def converts_halves() -> bool:
    """Return True if this processor has instructions that convert float16."""
    return not IS_X86 or "f16c" in _flags()


def _instructions() -> frozenset[str]:
    """The instructions of the chip that is compiled for. Of those with a name, few promise any."""
    chip = _chip.get()
    return _INSTRUCTIONS.get(chip, frozenset()) if chip in _OF_CHIPS else _flags()


@once
def may_use_blocks() -> bool:
    """Ask Linux for the registers of AMX, as a process has to, and return True if it gives them."""
    ask, what, registers = 158, 0x1023, 18  # arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA
    has_them = IS_X86 and sys.platform == "linux"
    return has_them and ctypes.CDLL(None).syscall(ask, what, registers) == 0


@once
def _of_this_processor() -> VectorRegisters:
    if not IS_X86:
        return NEON
    if "avx512f" in _flags():
        return AVX512
    return AVX2 if {"avx2", "fma"} <= _flags() else SSE


@once
def _flags() -> frozenset[str]:
    """The instructions that this processor has, as Linux names them."""
    facts = Path("/proc/cpuinfo")
    text = facts.read_text() if facts.exists() else ""
    return frozenset(text.partition("flags")[2].partition("\n")[0].split())
