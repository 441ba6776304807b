"""The reasons for which programs take more than 1.2 times JAX's time, for docs/benchmarks.md."""

from __future__ import annotations

_SHARED = "On one core it takes 0.4 to 1.2 of JAX's time; two bring less than in XLA."
_METERED = "Its loops have no known length: a step takes from a meter."
_ON_ONE_CORE = (
    *(
        "selu 1e6",
        "sigmoid 1e6",
        "erf 1e6",
        "float16 tanh 1e6",
        "complex exp 1e5",
        "sum all 10000000",
    ),
    *("softmax rows 1500", "softmax columns 1000"),
    *("scatter-set rows 512", "gather scalars 1e6", "concatenate 2 x 1e6", "stack 4 x 1e6"),
    *("one-hot 4096 of 1000", "transpose 2048x2048", "searchsorted 1e5 in 1000"),
    *("matmul 300", "matmul 512", "matmul 128x784x512", "matmul 512x784x1024"),
    *("dense layer 512x784x1024", "matvec 300", "vecmat 2048"),
    *("3x3 28, 128 NCHW", "1D 5, 64x256x32 to 64", "autoencoder gradient"),
    *("while norm of 256", "GAE 128x16", "history 50x256x256", "sines of 3e5 beside 1e6"),
    *("f64 add 1e6", "f64 exp 1e6", "f64 softmax 1000x1000", "f64 matmul 512"),
    *("f64 transpose 1000", "f64 matvec 1000", "int64 3x + y 1e6", "svd 100x8"),
    *("take_along_axis 1000x1000", "take 4096 clip", "scatter 20000 to 1e6, 20 times"),
)
"""Programs that were measured on one core by `--processor-time`."""
REASONS: dict[str, str] = {
    **dict.fromkeys(_ON_ONE_CORE, _SHARED),
    "sieve 1000": _METERED,
    "adaptive solve 50": f"{_METERED} The times are sorted by a kernel before.",
    "KV cache 8x2048x64": "On one core it takes as long as in JAX, whose two threads take 0.4 of "
    "that: probably, each keeps its half of the 4 MB near. IREE's workers take any part.",
    "concatenate columns 4 x 1000x250": "On one core it takes 1.26 of JAX's time, too; why is not "
    "known. A row of 250 elements is no whole number of vectors.",
    "sort 1000 beside 1e6": "NumPy sorts, on the host, which reads the carried array: IREE copies "
    "it in each step.",
    "stack last 3 x 1e5": "The kernel goes over the result once for each part.",
    "embedding gradient": "Ten megabytes are filled with zeros before rows are added.",
    "associative_scan 10000": "Kernels that read every second element had vectors that were too "
    "long; since then it takes 0.9 of JAX's time on one core.",
}
"""By the program's name; a sentence or two. A program that is no longer slow keeps its reason until
somebody removes it, but the document does not show it.
"""
