"""The reasons for which programs take more than 1.2 times JAX's time, for docs/benchmarks.md."""

from __future__ import annotations

_SHARED = (
    "On one core it takes 0.9 to 1.05 of JAX's time; a second one brings less than in XLA, which "
    "is unexplained."
)
REASONS: dict[str, str] = {
    "add 1e6": _SHARED,
    "add 1e6+1": _SHARED,
    "stack 4 x 1e6": _SHARED,
    "matvec 2048": _SHARED,
    "sort 1000 beside 1e6": "NumPy sorts, on the host, which reads the carried array: IREE copies "
    "it in each step.",
    "matmul 512x784x1024": _SHARED,
    "matmul 128x784x512": _SHARED,
    "searchsorted 1e5 in 1000": "Each of ten steps goes through all places in memory.",
    "repeat 1e5 x 10": "Rows shorter than a vector are put together from two vectors.",
    "int8 matmul 256 to int32": "It is converted to float32 and back, for OpenBLAS.",
}
"""By the program's name; a sentence or two. A program that is no longer slow keeps its reason until
somebody removes it, but the document does not show it.
"""
