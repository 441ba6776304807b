"""Attention by scaled dot products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.promotion import convert
from irax.nn.axes import logsumexp, softmax
from irax.typing import ArrayLike

WHAT = "nn.dot_product_attention"


def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Return softmax(scale query key^T + bias) value, for each batch and head.

    Sizes: B batches, T positions of queries, S of keys and values, N heads of queries, K of keys
        and
    values, H features. N is a multiple of K: each head of keys is for N / K heads of queries.

    Args:
        query: of shape (B, T, N, H); B may be left out here, in `key` and in `value`.
        key: of shape (B, S, K, H).
        value: of shape (B, S, K, H).
        bias: added to the logits; its shape broadcasts to (B, N, T, S).
        mask: booleans, True for the keys that a query attends to. Its shape broadcasts likewise.
        scale: a factor of the logits, 1 / sqrt(H) by default.
        is_causal: True if no query attends to keys at later positions than its own.
        query_seq_lengths: integers of shape (B,): the number of queries; the result of others is 0.
        key_value_seq_lengths: integers of shape (B,): the number of keys; others are masked.
        local_window_size: the distances to the left and to the right of its own position within
            which a query attends to keys; one number for both.
        implementation: None or "xla", which are the same here.
        return_residual: True to return the logarithm of the sums of exp(logits) as well, of
            shape (B, T, N), as a constant.

    Returns:
        An array of the shape and the dtype of `query`. Where a query attends to no key, it is the
        mean of all values.

    Raises:
        ValueError: shapes or dtypes that do not fit.
        NotImplementedError: the implementation "cudnn".

    >>> x = irax.numpy.ones((2, 5, 4, 3))
    >>> irax.nn.dot_product_attention(x, x, x, is_causal=True).shape
    (2, 5, 4, 3)
    """
    if implementation == "cudnn":
        raise NotImplementedError(f"{WHAT}: implementation='cudnn' is not supported; use None")
    if implementation not in (None, "xla"):
        raise ValueError(f"{WHAT}: implementation must be None or 'xla', got {implementation!r}")
    given = jnp.asarray(query).shape
    q, k, v = (
        _of_rank_4(name, x) for name, x in (("query", query), ("key", key), ("value", value))
    )
    _check(q, k, v)
    batch, places, heads, features = q.shape
    kv_heads, groups = k.shape[2], heads // k.shape[2]
    q = jnp.reshape(q, (batch, places, kv_heads, groups, features))
    wide = dtypes.promote_types(q.dtype, np.float32)
    logits = jnp.einsum("btkgh,bskh->bkgts", q, k, preferred_element_type=wide)
    logits = jnp.reshape(logits, (batch, heads, places, k.shape[1]))
    factor = 1 / math.sqrt(features) if scale is None else scale
    logits = logits * convert(as_array(factor), wide)
    if bias is not None:
        logits = convert(logits + _fitting("bias", bias, logits.shape), wide)
    lengths = [
        _lengths(name, x, batch)
        for name, x in (
            ("query_seq_lengths", query_seq_lengths),
            ("key_value_seq_lengths", key_value_seq_lengths),
        )
    ]
    seen = _seen(logits.shape, mask, is_causal, lengths, local_window_size)
    if seen is not None:
        # Finite, so that a query without keys gives no nan.
        logits = jnp.where(seen, logits, np.array(-0.7 * np.finfo(np.float32).max, wide))
    shares = convert(softmax(logits, axis=-1), k.dtype)
    shares = jnp.reshape(shares, (batch, kv_heads, groups, places, k.shape[1]))
    result = jnp.reshape(jnp.einsum("bkgts,bskh->btkgh", shares, v), (batch, places, heads, -1))
    if lengths[0] is not None:
        there = jnp.arange(places)[None] < lengths[0]
        result = jnp.where(there[..., None, None], result, 0)
    result = jnp.reshape(result, given)
    if not return_residual:
        return result
    sums = lax.stop_gradient(convert(logsumexp(logits, axis=-1), k.dtype))
    return result, jnp.reshape(jnp.swapaxes(sums, 1, 2), given[:-1])


def _of_rank_4(name: str, x: ArrayLike) -> Array:
    array = jnp.asarray(x)
    if array.ndim not in (3, 4):
        raise ValueError(f"{WHAT}: {name} must have 3 or 4 dimensions, got shape {array.shape}")
    return array if array.ndim == 4 else array[None]


def _check(q: Array, k: Array, v: Array) -> None:
    if v.shape != k.shape:
        raise ValueError(f"{WHAT}: value must have the shape of key, {k.shape}, got {v.shape}")
    if (q.shape[0], q.shape[3]) != (k.shape[0], k.shape[3]):
        raise ValueError(
            f"{WHAT}: query must have the batches and features of key, of shape {k.shape}, got "
            f"shape {q.shape}"
        )
    if not k.shape[2] or q.shape[2] % k.shape[2]:
        raise ValueError(
            f"{WHAT}: query must have a multiple of the {k.shape[2]} heads of key, got {q.shape[2]}"
        )
    for name, x in (("query", q), ("value", v)):
        if x.dtype != k.dtype:
            raise ValueError(f"{WHAT}: {name} must have the dtype of key, {k.dtype}, got {x.dtype}")


def _fitting(name: str, x: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return an array that broadcasts to the shape of the logits."""
    array = as_array(x, f"{WHAT}: {name}")
    padded = (1,) * (4 - array.ndim) + array.shape
    if array.ndim > 4 or any(n not in (1, size) for n, size in zip(padded, shape, strict=True)):
        raise ValueError(f"{WHAT}: {name} must broadcast to {shape}, got shape {array.shape}")
    return jnp.reshape(array, padded)


def _lengths(name: str, x: ArrayLike | None, batch: int) -> Array | None:
    """Return lengths of sequences, of shape (B, 1)."""
    if x is None:
        return None
    array = as_array(x, f"{WHAT}: {name}")
    if array.shape != (batch,) or not dtypes.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{WHAT}: {name} must be integers of shape ({batch},), got {array.aval}")
    return array[:, None]


def _seen(
    shape: tuple[int, ...],
    mask: ArrayLike | None,
    is_causal: bool,
    lengths: list[Array | None],
    window: int | tuple[int, int] | None,
) -> Array | None:
    """Return a mask of the logits that count, which broadcasts to their shape; None if all do."""
    rows, columns = jnp.arange(shape[2])[:, None], jnp.arange(shape[3])[None, :]
    parts = []
    if mask is not None:
        given = _fitting("mask", mask, shape)
        if given.dtype != np.bool:
            raise ValueError(f"{WHAT}: mask must be of booleans, got {given.dtype}")
        parts.append(given)
    if is_causal:
        parts.append(columns <= rows)
    if window is not None:
        left, right = (window, window) if isinstance(window, int) else window
        parts.append((rows <= columns + left) & (rows >= columns - right))
    queries, keys = lengths
    if queries is not None:
        parts.append((rows < queries[:, :, None])[:, None])
    if keys is not None:
        parts.append((columns < keys[:, :, None])[:, None])
    seen = None
    for part in parts:
        seen = part if seen is None else seen & part
    return seen
