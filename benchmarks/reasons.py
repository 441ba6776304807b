"""The reasons for which programs take more than 1.2 times JAX's time, for docs/benchmarks.md."""

from __future__ import annotations

_SHARED = "On one core it takes 0.5 to 1.15 of JAX's time; two bring less than in XLA."
_METERED = "Its loops have no known length, so each step takes from a meter."
_CALL = "It is mostly a call: two microseconds more than JAX's."
_ON_ONE_CORE = (
    "flip rows 1000x1000",
    "flip columns 1000x1000",
    "vecmat 2048",
    "svd 100x8",
    "history 50x256x256",
    "gather columns 512",
    "f64 sin 1e5",
    "f64 transpose 1000",
    "stack 4 x 1e6",
    "take_along_axis 1000x1000",
    "int64 3x + y 1e6",
)
"""Programs that were measured on one core by `--processor-time`."""
REASONS: dict[str, str] = {
    **dict.fromkeys(_ON_ONE_CORE, _SHARED),
    **dict.fromkeys(("sieve 1000", "adaptive solve 50", "sorting network 64"), _METERED),
    **dict.fromkeys(("add 16", "linear regression step 100x3"), _CALL),
    "sort 1000 beside 1e6": "NumPy sorts, on the host, which reads the carried array: IREE copies "
    "it in each step.",
    "searchsorted 1e5 in 1000": "Each of ten steps goes through all places in memory.",
    **dict.fromkeys(
        ("KV cache 8x2048x64", "gather scalars 1e6"),
        "On one core it takes 1.16 of JAX's time; two bring less than in XLA.",
    ),
    "scatter-add rows 4096": "On one core it takes 1.07 to 1.2 of JAX's time.",
    "int8 matmul 256 to int32": "It is multiplied as float32, which has to be converted to.",
    "f64 exp 1e6": "Its formula takes 1.2 of the time of XLA's on one core.",
}
"""By the program's name; a sentence or two. A program that is no longer slow keeps its reason until
somebody removes it, but the document does not show it.
"""
