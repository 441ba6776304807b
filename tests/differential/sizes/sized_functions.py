"""A generator of random functions of arrays of unknown size, as users write them.

A function is a list of steps. Those are chosen while it is traced with symbolic sizes, and the same
steps run for known sizes, so the trace of unknown sizes is tested against those of known ones.

    steps = random_steps(random.Random(1), specs, most=4)
    results = function_of(steps)(x, y)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax import lax
from irax.errors import InconclusiveDimensionOperation

Array = Any
Step = Callable[[Sequence[Array]], Array]
HIGHEST_RANK = 4


class Choices:
    """Choices of what the steps of a function compute from its values."""

    def __init__(self, rng: random.Random, values: list[Array]) -> None:
        self.rng = rng
        self.values = values

    def axis(self, x: Array) -> int:
        return self.rng.randrange(x.ndim)

    def one(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def like(self, x: Array) -> int:
        """The place of a value of the shape and dtype of `x`."""
        fit = [i for i, y in enumerate(self.values) if (y.shape, y.dtype) == (x.shape, x.dtype)]
        return self.rng.choice(fit)

    def any(self, kinds: str = "fiubc") -> int | None:
        """The place of a value of some kind of dtype."""
        fit = [i for i, y in enumerate(self.values) if y.dtype.kind in kinds]
        return self.rng.choice(fit) if fit else None


Maker = Callable[[Choices, int], Step | None]
"""Chooses a step for a value; None where there is none for it."""


def numbers(x: Array) -> Array:
    """An array as one that has arithmetic."""
    return x.astype("float64") if x.dtype.kind in "bu" else x


def real(x: Array) -> Array:
    return x.real if x.dtype.kind == "c" else numbers(x)


def binary(c: Choices, i: int) -> Step:
    x = c.values[i]
    j = c.like(x)
    f = c.one(jnp.add, jnp.subtract, jnp.multiply, jnp.add, jnp.minimum, jnp.maximum)
    if x.dtype.kind == "b":
        f = c.one(jnp.logical_and, jnp.logical_or, jnp.logical_xor)
    if x.dtype.kind == "c":
        f = c.one(jnp.add, jnp.multiply)
    return lambda v: f(v[i], v[j])


def outer(c: Choices, i: int) -> Step | None:
    """An operation of arrays that are broadcast."""
    j = c.any(c.values[i].dtype.kind)
    return lambda v: jnp.add(numbers(v[i])[..., None], jnp.ravel(numbers(v[j]))[:1])


def unary(c: Choices, i: int) -> Step:
    kind = c.values[i].dtype.kind
    if kind == "b":
        return lambda v: ~v[i]
    if kind in "iu":
        f = c.one(lambda x: -x, jnp.abs, lambda x: x // 3, lambda x: x % 3, lambda x: x * x)
    elif kind == "c":
        f = c.one(jnp.conj, jnp.real, jnp.imag, jnp.abs, lambda x: x * (1 + 2j))
    else:
        f = c.one(jnp.sin, jnp.tanh, irax.nn.sigmoid, jnp.abs, jnp.square, jnp.floor, irax.nn.gelu)
    return lambda v: f(v[i])


def cast(c: Choices, i: int) -> Step | None:
    dtype = c.one("float64", "float32", "int32", "int8", "bool", "complex64", "uint8")
    if c.values[i].dtype.kind == "c":
        return lambda v: v[i].real
    if dtype in ("int8", "uint8", "int32"):
        return lambda v: jnp.clip(numbers(v[i]), 0, 5).astype(dtype)
    return lambda v: v[i].astype(dtype)


def index(c: Choices, i: int) -> Step:
    places = []
    for _ in range(c.values[i].ndim):
        parts = [slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(3)]
        parts += [slice(None, None, -1), slice(None, None, -2), slice(1, -1), slice(-3, None)]
        parts += [slice(-1, None, -3), slice(1, None, 3), None]
        places.append(c.one(*parts, slice(None), slice(None)))
    return lambda v: v[i][tuple(places)]


def half(c: Choices, i: int) -> Step:
    """A part whose size is a quotient."""
    axis, k, of = c.axis(c.values[i]), c.one(2, 3), c.one("begin", "end", "rest")

    def step(v: Sequence[Array]) -> Array:
        n = v[i].shape[axis] // k
        place = {"begin": slice(None, n), "end": slice(n, None), "rest": slice(n, 2 * n)}[of]
        return v[i][(slice(None),) * axis + (place,)]

    return step


def element(c: Choices, i: int) -> Step:
    axis, at = c.axis(c.values[i]), c.one(0, -1)
    return lambda v: jnp.take(v[i], at, axis, mode="clip")


def take(c: Choices, i: int) -> Step | None:
    j = c.any("iu")
    axis, mode = c.axis(c.values[i]), c.one("clip", "fill", "wrap")
    if j is None:
        return None
    return lambda v: jnp.take(v[i], v[j].reshape(-1), axis, mode=mode)


def write(c: Choices, i: int) -> Step | None:
    j = c.any("iu")
    how = c.one("set", "add", "max", "min", "multiply")
    if j is None or c.values[i].dtype.kind in "bc":
        return None
    if how == "set":  # of equal updates: in which order duplicates are written is not stated
        return lambda v: v[i].at[v[j].reshape(-1)].set(1)
    return lambda v: getattr(v[i].at[v[j].reshape(-1)], how)(v[i][:1])


def write_part(c: Choices, i: int) -> Step:
    place, how = c.one(slice(1, None), slice(None, None, 2), slice(None, -1)), c.one("set", "add")
    if c.values[i].dtype.kind == "b":
        how = "set"
    return lambda v: getattr(v[i].at[place], how)(v[i][place][::-1])


def dynamic(c: Choices, i: int) -> Step:
    axis, at = c.axis(c.values[i]), c.one(-5, 0, 1, 2, 1000)

    def step(v: Sequence[Array]) -> Array:
        x = v[i]
        n = x.shape[axis] - x.shape[axis] // 2
        start = jnp.int32(at) + x.astype("int32").sum() % 3
        part = lax.dynamic_slice_in_dim(x, start, n, axis)
        return lax.dynamic_update_slice_in_dim(x, part, jnp.int32(0), axis)

    return step


def move(c: Choices, i: int) -> Step:
    x = c.values[i]
    axis, k = c.axis(x), c.one(-2, -1, 1, 2, 5)
    order = c.rng.sample(range(x.ndim), x.ndim)
    f = c.one(
        lambda x: jnp.roll(x, k, axis),
        lambda x: jnp.flip(x, axis),
        lambda x: jnp.transpose(x, order),
        lambda x: jnp.concatenate([x, x[::-1]], axis),
        lambda x: jnp.stack([x, x], axis),
        lambda x: jnp.tile(x, 2),
        lambda x: jnp.repeat(x, 3, axis),
        lambda x: jnp.pad(x, [(abs(k), 1)] + [(0, 0)] * (x.ndim - 1)),
        lambda x: jnp.pad(x, 1, mode="edge"),
        lambda x: lax.pad(x, jnp.zeros((), x.dtype), [(c_low, 1, 1)] + [(0, 0, 0)] * (x.ndim - 1)),
        lambda x: jnp.broadcast_to(x, (x.shape[0], *x.shape)),
        lambda x: jnp.expand_dims(x, axis),
        lambda x: jnp.rot90(x) if x.ndim > 1 else x,
        lambda x: jnp.diff(real(x), axis=axis),
    )
    c_low = c.one(-1, 0, 2)
    return lambda v: f(v[i])


def reshape(c: Choices, i: int) -> Step:
    f = c.one(
        jnp.ravel,
        lambda x: x.reshape(-1, 1),
        lambda x: x.reshape(x.shape[0], -1),
        lambda x: x.reshape(-1, x.shape[-1]),
        lambda x: x.T.reshape(-1),
        lambda x: jnp.stack([x, x], -1).reshape(*x.shape[:-1], -1),
        lambda x: jnp.swapaxes(x, 0, -1),
    )
    return lambda v: f(v[i])


def reduce(c: Choices, i: int) -> Step:
    x = c.values[i]
    axis, keep = c.one(None, *range(x.ndim)), c.one(True, False)
    f = c.one(jnp.sum, jnp.sum, jnp.mean, jnp.prod, jnp.any, jnp.all)
    if x.dtype.kind != "c":
        f = c.one(f, jnp.var, lambda x, a, keepdims: jnp.max(x, a, keepdims=keepdims, initial=0))
    g = c.one(lambda x, y: x * 0 + y if keep else y, lambda x, y: y)
    return lambda v: g(numbers(v[i]), f(numbers(v[i]), axis, keepdims=keep))


def search(c: Choices, i: int) -> Step | None:
    axis = c.axis(c.values[i])
    if c.values[i].dtype.kind == "c":
        return None
    f = c.one(jnp.argmax, jnp.argmin, lambda x, a: jnp.count_nonzero(x > 0, a))
    wide = lambda x: jnp.concatenate([x, jnp.ones_like(x[:1])]) if axis == 0 else x
    return lambda v: f(wide(numbers(v[i])), 0)


def cumulate(c: Choices, i: int) -> Step:
    x = c.values[i]
    axis = c.axis(x)
    f = c.one(jnp.cumsum, jnp.cumprod)
    if x.dtype.kind in "if":
        f = c.one(f, f, lax.cummax, lambda x, a: lax.cumsum(x, a, reverse=True), lax.cumlogsumexp)
    if f is lax.cumlogsumexp:
        return lambda v: f(numbers(v[i]).astype("float64"), axis)
    return lambda v: f(numbers(v[i]), axis)


def order(c: Choices, i: int) -> Step | None:
    x = c.values[i]
    axis = c.axis(x)
    if x.dtype.kind == "c":
        return None
    return c.one(
        lambda v: jnp.sort(v[i], axis),
        lambda v: jnp.argsort(v[i], axis),
        lambda v: jnp.sort(v[i], axis, descending=True),
        lambda v: jnp.median(jnp.concatenate([real(v[i]), real(v[i][:0]) + 1], 0), axis),
        lambda v: lax.top_k(numbers(v[i]), 1)[0],
    )


def dot(c: Choices, i: int) -> Step | None:
    j = c.any("fic")
    if j is None or c.values[i].dtype.kind == "b":
        return None
    fits = c.values[i].shape[-1] == c.values[j].shape[0]
    return c.one(
        lambda v: jnp.einsum("...i,...i->...", numbers(v[i]), numbers(v[i])),
        lambda v: jnp.matmul(v[i], jnp.swapaxes(v[i], -1, -2)) if v[i].ndim > 1 else v[i],
        lambda v: jnp.tensordot(numbers(v[i]), numbers(v[i]), [[0], [0]]),
        lambda v: jnp.outer(v[i], v[i][:2]),
        lambda v: v[i] @ jnp.ones((v[i].shape[-1], 3), v[i].dtype),
        lambda v: jnp.matmul(v[i], v[j]) if fits else v[j],
    )


def compare(c: Choices, i: int) -> Step:
    j = c.like(c.values[i])
    if c.values[i].dtype.kind == "c":
        return lambda v: v[i] == v[j]
    f = c.one(
        lambda x, y: x > y,
        lambda x, y: jnp.where(x > y, x, y),
        lambda x, y: jnp.where(x[:1] == y, y, x),
        lambda x, y: jnp.searchsorted(jnp.arange(5.0), real(x)),
    )
    return lambda v: f(v[i], v[j])


def places(c: Choices, i: int) -> Step:
    axis = c.axis(c.values[i])
    return c.one(
        lambda v: (
            numbers(v[i])
            * jnp.arange(v[i].shape[axis]).reshape((-1,) + (1,) * (v[i].ndim - 1 - axis))
        ),
        lambda v: jnp.eye(v[i].shape[axis], dtype=v[i].dtype),
        lambda v: jnp.arange(v[i].shape[axis] + 2),
        lambda v: jnp.linspace(0, 1, 5) * v[i].shape[axis],
        lambda v: jnp.tril(v[i]) if v[i].ndim > 1 else v[i],
        lambda v: jnp.full(v[i].shape, v[i].shape[axis] % 3),
        lambda v: jnp.zeros(v[i].shape).at[:1].set(2.0),
    )


def window(c: Choices, i: int) -> Step | None:
    x = c.values[i]
    if x.dtype.kind not in "f":
        return None
    f, init = c.one((lax.add, 0.0), (lax.max, -jnp.inf), (lax.min, jnp.inf))
    low, high = (0, 0) if init else c.one((1, 1), (0, 1), (2, 0))
    stride = c.one(1, 2)
    rest = (1,) * (x.ndim - 1)
    pads = ((low + 1, high + 1), *(((0, 0),) * (x.ndim - 1)))
    return lambda v: lax.reduce_window(
        v[i], jnp.asarray(init, v[i].dtype), f, (2, *rest), (stride, *rest), pads
    )


def convolve(c: Choices, i: int) -> Step | None:
    x = c.values[i]
    if x.dtype.kind != "f":
        return None
    pads = c.one("SAME", [(2, 1)], [(1, 2)])
    stride, dilation = c.one((1, 1), (2, 1), (1, 2))
    kernel = np.linspace(-1, 1, 6).reshape(2, 1, 3)
    return lambda v: lax.conv_general_dilated(
        v[i].reshape(-1, 1, v[i].shape[-1]),
        kernel.astype(v[i].dtype),
        (stride,),
        pads,
        rhs_dilation=(dilation,),
    )


def scan(c: Choices, i: int) -> Step | None:
    x = c.values[i]
    if x.dtype.kind in "bu" or x.ndim > 3:
        return None
    reverse = c.one(True, False)

    def sums(v: Sequence[Array]) -> Array:
        f = lambda s, r: (s * 0.5 + r, s + r * 2)
        carry = jnp.zeros(v[i].shape[1:], jnp.result_type(v[i].dtype, "float32"))
        last, rows = lax.scan(f, carry, v[i].astype(carry.dtype), reverse=reverse)
        return rows + last

    def swaps(v: Sequence[Array]) -> Array:
        f = lambda k, s: (s[1], jnp.flip(s[0], 0) + k)
        return sum(lax.fori_loop(0, 3, f, (v[i].astype("float32"), v[i].astype("float32") * 2)))

    def counted(v: Sequence[Array]) -> Array:
        f = lambda k, s: s.at[k // 2].add((v[i][k] * k).astype(s.dtype))
        return lax.fori_loop(0, v[i].shape[0], f, jnp.ones(v[i].shape, "float64"))

    def until(v: Sequence[Array]) -> Array:
        x = jnp.abs(v[i]).astype("float64")
        return lax.while_loop(lambda x: x.sum() > 1, lambda x: x * 0.4, x)

    return c.one(sums, sums, swaps, counted, until)


def branch(c: Choices, i: int) -> Step | None:
    j = c.like(c.values[i])
    if c.values[i].dtype.kind in "bcu":
        return None
    return lambda v: lax.cond(
        v[j].sum() > 0,
        lambda x, y: (x + y, x[:1]),
        lambda x, y: (x * 2, y[:1]),
        v[i],
        v[j],
    )[0]


def lanes(c: Choices, i: int) -> Step | None:
    x = c.values[i]
    if x.ndim < 2 or x.dtype.kind in "bcu":
        return None
    f = c.one(
        lambda r: r[::-1] + r.sum(),
        lambda r: jnp.cumsum(r, 0),
        lambda r: r * jnp.arange(r.shape[0]).reshape((-1,) + (1,) * (r.ndim - 1)),
        lambda r: jnp.concatenate([r[1:], r[:1]]),
        lambda r: r.at[r.reshape(-1)[:1].astype("int32")].add(1),
        lambda r: lax.fori_loop(0, 2, lambda k, s: s + s[::-1], r),
    )
    return lambda v: irax.vmap(f)(v[i])


def derivative(c: Choices, i: int) -> Step | None:
    x = c.values[i]
    if x.dtype.kind != "f":
        return None
    rng = random.Random(c.rng.randrange(1 << 30))
    inner = rng.choice(MAKERS)(Choices(rng, [x]), 0)
    if inner is None:
        return None
    return lambda v: irax.grad(lambda x: jnp.sum(real(inner([x])) ** 2).astype("float64"))(v[i])


MAKERS: Sequence[Maker] = (
    *(binary, binary, outer, unary, unary, cast, index, index, index, half, element, take, write),
    *(write_part, dynamic, move, move, move, reshape, reshape, reduce, reduce, search, cumulate),
    *(order, dot, dot, compare, places, window, convolve, scan, scan, branch, lanes, lanes),
    *(derivative, derivative),
)

REFUSED = (InconclusiveDimensionOperation, TypeError, ValueError, NotImplementedError)
"""The errors of steps that there are not for a value."""


def random_steps(rng: random.Random, given: Sequence[Array], most: int) -> list[Step]:
    """Up to `most` steps for arguments of some types: those that can be traced for symbolic sizes.
    A step takes the arguments and what the steps before it returned.
    """
    steps: list[Step] = []

    def trial(*args: Array) -> Array:
        values = list(args)
        for _ in range(3 * most):
            if len(steps) == most:
                break
            i = rng.choice([len(values) - 1] * 2 + list(range(len(values))))
            made = _step(rng, values, i) if values[i].ndim else None
            if made is not None and 0 < made[1].ndim <= HIGHEST_RANK:
                values.append(made[1])
                steps.append(made[0])
        return values[-1]

    irax.eval_shape(trial, *given)
    return steps


def _step(rng: random.Random, values: list[Array], i: int) -> tuple[Step, Array] | None:
    try:
        step = rng.choice(MAKERS)(Choices(rng, values), i)
        return None if step is None else (step, step(values))
    except REFUSED:
        return None


def function_of(steps: Sequence[Step]) -> Callable[..., list[Array]]:
    """The function that returns what the steps do."""

    def function(*args: Array) -> list[Array]:
        values = list(args)
        for step in steps:
            values.append(step(values))
        return values[len(args) :]

    return function
