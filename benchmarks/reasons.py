"""The reasons for which programs take more than 1.2 times JAX's time, or 1.1 times its memory, for
docs/benchmarks.md.
"""

from __future__ import annotations

_SHARED = "On one core it takes 0.4 to 1.2 of JAX's time; two bring less than in XLA."
_ON_ONE_CORE = (
    *(
        "selu 1e6",
        "sigmoid 1e6",
        "erf 1e6",
        "float16 tanh 1e6",
        "bfloat16 2x + y 1e6",
        "complex exp 1e5",
        "sum all 10000000",
        "sum rows 1500x1500",
        "add 1e6",
    ),
    *("softmax rows 1500", "softmax columns 1000"),
    *("scatter-set rows 512", "gather scalars 1e6", "concatenate 2 x 1e6", "stack 4 x 1e6"),
    "concatenate columns 4 x 1000x250",
    *(
        "one-hot 4096 of 1000",
        "flip rows 1000x1000",
        "transpose 1000x1000",
        "transpose 2048x2048",
        "searchsorted 1e5 in 1000",
    ),
    *("matmul 300", "matmul 512", "matmul 784", "matmul 128x784x512", "matmul 512x784x1024"),
    *("dense layer 512x784x1024", "matvec 300", "vecmat 2048"),
    *(
        "max pool 3x3 8x112x112x64",
        "3x3 28, 128 NCHW",
        "1D 5, 64x256x32 to 64",
        "autoencoder gradient",
    ),
    *("while norm of 256", "GAE 128x16", "history 50x256x256", "sines of 3e5 beside 1e6"),
    *("f64 add 1e6", "f64 exp 1e6", "f64 softmax 1000x1000", "f64 matmul 512"),
    *("f64 transpose 1000", "f64 matvec 1000", "f64 fft 64x1024", "svd 100x8", "eigh 100x8"),
    *("int32 3x + y 1e6", "int64 3x + y 1e6"),
    *("take_along_axis 1000x1000", "take 4096 clip", "scatter 20000 to 1e6, 20 times"),
)
"""Programs that were measured on one core by `--processor-time`."""
REASONS: dict[str, str] = {
    **dict.fromkeys(_ON_ONE_CORE, _SHARED),
    "sort 1000 beside 1e6": "NumPy sorts, on the host, which reads the carried array: IREE copies "
    "it in each step.",
    "stack last 3 x 1e5": "The kernel goes over the result once for each part.",
    "heat gradient 200x300": "What neighbours read of a cotangent is a kernel of its own in each "
    "step.",
    "KV cache 8x2048x64": "On one core it takes JAX's time. The loop does not share its products "
    "with vectors among cores.",
    "scatter-add rows 4096": "The ten megabytes to which rows are added are copied first.",
    "embedding gradient": "Ten megabytes are filled with zeros before rows are added.",
    "associative_scan 10000": "Kernels that read every second element had vectors that were too "
    "long; since then it takes 0.9 of JAX's time on one core.",
}
"""By the program's name; a sentence or two. A program that is no longer slow keeps its reason until
somebody removes it, but the document does not show it.
"""

_FACTORS = (
    "What products with weights read or give is stored for all steps: they are done once, before a "
    "loop or after it."
)
_VALUES = (
    "One kernel has the loop: values of a step that are alive at a time are in its scratch, where "
    "XLA computes some of them as they are read."
)
_RESULT = (
    "A kernel's result has memory of its own while its operands are alive. XLA's elementwise "
    "kernels write over an operand."
)

MEMORY: dict[str, str] = {
    **dict.fromkeys(("LSTM 50x32x128", "GRU 50x32x128", "GRU gradient 100x64"), _FACTORS),
    "GRU gradient 50x32x128": _FACTORS,
    "attention 4x128x8x32": "All scores are one array. Kernels compute one head after another "
    "where the result is contiguous by heads, and here it is not.",
    "set lanes 8x16": "The transposed array that a kernel reads is alive beside its result.",
    "beam search 32": _VALUES,
    "f64 planets 64x3": _VALUES,
    "wave 400x500": "A kernel that reads neighbours writes other arrays than those that the loop "
    "carries. XLA computes a step in parts, of which some are in place.",
    **dict.fromkeys(("dense output 100", "gamma 10000"), _RESULT),
    "autoencoder gradient": "A product's dispatch computes the squares for the loss, and the "
    "cotangent: two arrays. XLA keeps the product, and computes both when they are read.",
}
"""By the program's name, as `REASONS`, for memory."""
