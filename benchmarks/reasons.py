"""The reasons for which programs take more than 1.2 times JAX's time, for docs/benchmarks.md."""

from __future__ import annotations

_FEW_ROWS = (
    "OpenBLAS takes 1.1 of the time of XLA's products for batches of 128: it lays out the weights "
    "anew in each call, and few rows use them. On one core the whole program takes "
)
_HELPER = (
    "The number of steps is not known, so another thread runs the program, which Ctrl-C can leave "
    "behind; handing it over takes 5 us or more."
)
REASONS: dict[str, str] = {
    "adaptive solve 50": f"{_HELPER} That is a third of the difference; the rest is unexplained.",
    "insertion sort 64": _HELPER,
    "sieve 1000": _HELPER,
    "sorting network 64": _HELPER,
    "histogram of 1e5": "The kernel of a loop copies the array on one core before it updates it.",
    "MLP 784-1024-1024-10": f"{_FEW_ROWS}1.14 of JAX's time.",
    "MLP step": f"{_FEW_ROWS}1.05 of JAX's time.",
    "top_k 10 of 1000x1000": "NumPy partitions whole rows of places, outside of the program; XLA "
    "keeps the largest so far.",
    "searchsorted 1e5 in 1000": "Each of ten steps goes through all places in memory.",
    "repeat 1e5 x 10": "Rows shorter than a vector are put together from two vectors.",
    "fft 100000": "A single transform of more than 8192 elements is a few products of matrices.",
    "fft2 256x256": "IREE transposes arrays of complex numbers before and after the transform of "
    "the first dimension.",
    "int8 matmul 256 to int32": "It is converted to float32 and back, for OpenBLAS.",
    "1D 5, 64x256x32 to 64": "A product of matrices for each element of the window. One product of "
    "all windows would take two thirds of that.",
}
"""By the program's name; a sentence or two. A program that is no longer slow keeps its reason until
somebody removes it, but the document does not show it.
"""
