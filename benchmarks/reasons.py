"""The reasons for which programs take more than 1.2 times JAX's time, for docs/benchmarks.md."""

from __future__ import annotations

_SHARED = (
    "On one core it takes 0.5 to 1.15 of JAX's time; of two, Linux often wakes both workers of "
    "IREE's on the same one."
)
_ON_ONE_CORE = (
    "add 1e6",
    "add 1e6+1",
    "stack 4 x 1e6",
    "sum all 10000000",
    "gather scalars 1e6",
    "take 4096 clip",
    "scatter-add rows 4096",
    "scatter-set rows 512",
    "flip rows 1000x1000",
    "flip columns 1000x1000",
    "one-hot 4096 of 1000",
    "transpose 2048x2048",
    "matmul 16x64x64",
    "matmul 784",
    "matmul 128x784x512",
    "matmul 512x784x1024",
    "A B^T 1024",
    "matvec 2048",
    "3x3 28, 128",
    "3x3 14, 256",
    "1D 5, 64x256x32 to 64",
    "attention bfloat16 4x128x8x32",
    "transformer 2 x 128",
    "history 50x256x256",
    "KV cache 8x2048x64",
    "svd 100x8",
    "eigh 100x8",
    "fft2 256x256",
    "f64 sin 1e5",
    "f64 sum all 1e6",
    "f64 sum rows 1000",
    "f64 matmul 512",
    "int8 matmul 256 to int32",
)
"""Programs that were measured on one core by `--processor-time`."""
REASONS: dict[str, str] = {
    **dict.fromkeys(_ON_ONE_CORE, _SHARED),
    "sort 1000 beside 1e6": "NumPy sorts, on the host, which reads the carried array: IREE copies "
    "it in each step.",
    "searchsorted 1e5 in 1000": "Each of ten steps goes through all places in memory.",
    "repeat 1e5 x 10": "Rows shorter than a vector are put together from two vectors.",
    "sieve 1000": "Its loops have no known length, so each step takes from a meter.",
}
"""By the program's name; a sentence or two. A program that is no longer slow keeps its reason until
somebody removes it, but the document does not show it.
"""
