"""Attention and transformer blocks."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, of, program, weights

HEADS = f32(4, 128, 8, 32)
"""Batch, positions, heads, width of a head."""


def attend(lib: Any, jnp: Any, q: Any, k: Any, v: Any, causal: bool = True) -> Any:
    """Attention of queries to keys, [batch, positions, heads, width]."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    if causal:
        positions = jnp.arange(q.shape[1])
        scores = jnp.where(positions[:, None] >= positions, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", lib.nn.softmax(scores), v)


def block(lib: Any, jnp: Any, params: Any, x: Any, heads: int) -> Any:
    """A transformer block, for x [batch, positions, width]."""

    def normalized(x: Any) -> Any:
        mean = jnp.mean(x, -1, keepdims=True)
        return (x - mean) * lib.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5)

    batch, positions, width = x.shape
    qkv = (normalized(x) @ params["qkv"]).reshape(batch, positions, 3, heads, width // heads)
    attended = attend(lib, jnp, qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2])
    x = x + attended.reshape(x.shape) @ params["out"]
    return x + lib.nn.gelu(normalized(x) @ params["up"]) @ params["down"]


def block_weights(width: int) -> dict[str, Any]:
    """The parameters of a block."""
    return {
        "qkv": weights(width, 3 * width),
        "out": weights(width, width),
        "up": weights(width, 4 * width),
        "down": weights(4 * width, width),
    }


def _attention(causal: bool) -> Any:
    return lambda lib, jnp: lambda q, k, v: attend(lib, jnp, q, k, v, causal)


def _gradient(lib: Any, jnp: Any) -> Any:
    return lib.grad(lambda q, k, v: jnp.sum(jnp.sin(attend(lib, jnp, q, k, v))), (0, 1, 2))


def _decode(lib: Any, jnp: Any) -> Any:
    """A step of generation: one query, and a cache to which a key and a value are written."""

    def step(q: Any, k: Any, v: Any, keys: Any, values: Any, place: Any) -> Any:
        keys = lib.lax.dynamic_update_slice_in_dim(keys, k, place, 1)
        values = lib.lax.dynamic_update_slice_in_dim(values, v, place, 1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, keys) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.arange(keys.shape[1]) <= place, scores, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", lib.nn.softmax(scores), values), keys, values

    return step


def _block(lib: Any, jnp: Any) -> Any:
    return lambda params, x: block(lib, jnp, params, x, 8)


PROGRAMS = [
    program("attention 4x128x8x32", _attention(False), HEADS, HEADS, HEADS),
    program("causal attention 4x128x8x32", _attention(True), HEADS, HEADS, HEADS),
    program("causal attention 1x512x8x64", _attention(True), *[f32(1, 512, 8, 64)] * 3),
    program(
        "attention bfloat16 4x128x8x32",
        _attention(True),
        *[of("bfloat16", 4, 128, 8, 32)] * 3,
        tolerance=3e-2,
    ),
    program("attention gradient 4x128x8x32", _gradient, HEADS, HEADS, HEADS),
    program(
        "decoding step, cache of 512",
        _decode,
        *[f32(4, 1, 8, 64)] * 3,
        *[f32(4, 512, 8, 64)] * 2,
        of("int32", below=500),
    ),
    program("transformer block 4x128x256", _block, block_weights(256), f32(4, 128, 256)),
]
