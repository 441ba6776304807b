"""The steps of random functions (`random_functions.py`), and the kinds of functions that they make.

A step takes a value of the program, and returns values computed from it and from others, or none
where it does not apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np
from tests.differential.random import random_edges
from tests.differential.random.random_control import branched, looped, mapped, stacked, told
from tests.differential.random.random_functions import (
    BOOL,
    C128,
    DTYPES,
    F64,
    I32,
    LARGEST,
    STORED,
    Kind,
    Known,
    Program,
    Step,
)

# ---- steps ---------------------------------------------------------------------------------------


def arithmetic(p: Program, v: Known) -> Known:
    w = p.partner(v)
    v, w = (v, w) if p.chance(0.5) else (w, v)
    if v.dtype == BOOL:
        name = p.one(["logical_and", "logical_or", "logical_xor"])
        return Known(getattr(p.np, name)(v.x, w.x), 1)
    names = ["add", "subtract", "multiply"] + ["maximum", "minimum"] * (v.kind != "c")
    name = p.one(names)
    if name == "multiply":
        v = p.fitting(v, 2 * v.bound)
        w = p.fitting(w, 2 * v.bound)
        bound = 2 * v.bound * w.bound
    elif name in ("maximum", "minimum"):
        bound = max(v.bound, w.bound)
    else:
        v, w = p.fitting(v, 2), p.fitting(w, 2)
        bound = v.bound + w.bound if v.kind != "u" or name == "add" else inf
    return Known(getattr(p.np, name)(v.x, w.x), bound)


def spread(p: Program, v: Known) -> Known | None:
    """Arithmetic with a value that is broadcast along some dimensions, or the one that does it."""
    others = [w for w in p.values if w.dtype == v.dtype and _broadcasts(v.shape, w.shape)]
    if v.dtype == BOOL or not others:
        return None
    w = p.one(others)
    v, w = p.fitting(v, 2), p.fitting(w, 2)
    return Known(p.np.add(v.x, w.x), v.bound + w.bound)


def _broadcasts(a: Sequence[int], b: Sequence[int]) -> bool:
    return len(a) == len(b) and all(m == n or 1 in (m, n) for m, n in zip(a, b, strict=True))


def unary(p: Program, v: Known) -> Known:
    if v.dtype == BOOL:
        return Known(p.np.logical_not(v.x), 1)
    if v.kind == "c":
        name = p.one(["negative", "conj", "real", "imag"])
        return Known(getattr(p.np, name)(v.x), v.bound)
    name = p.one(["negative", "abs", "sign", "square", "remainder", "halved"])
    if name == "square":
        v = p.fitting(v, v.bound)
        return Known(p.np.square(v.x), v.bound**2)
    if name == "remainder":
        return Known(p.np.remainder(v.x, v.dtype.type(3)), 3)
    if name == "halved":
        return Known(p.np.floor_divide(v.x, v.dtype.type(2)), v.bound)
    return Known(getattr(p.np, name)(v.x), inf if v.kind == "u" else v.bound)


def bits(p: Program, v: Known) -> Known:
    if v.kind not in "iu":
        v = p.converted(v, p.one([I32, np.dtype(np.uint8), np.dtype(np.int64)]))
    name = p.one(["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "left_shift"])
    if name == "bitwise_not":
        return Known(p.np.bitwise_not(v.x), inf)
    w = p.partner(v) if name != "left_shift" else Known(v.dtype.type(1), 1)
    return Known(getattr(p.np, name)(v.x, w.x), inf)


def compared(p: Program, v: Known) -> Known:
    names = ["equal", "not_equal"] + ["less", "greater_equal"] * (v.kind != "c")
    return Known(getattr(p.np, p.one(names))(v.x, p.partner(v).x), 1)


def selected(p: Program, v: Known) -> Known:
    masks = [w for w in p.values if w.dtype == BOOL and w.shape == v.shape]
    mask = p.one(masks) if masks and p.chance(0.6) else compared(p, v)
    a, b = p.partner(v), p.partner(v)
    return Known(p.np.where(mask.x, a.x, b.x), max(a.bound, b.bound))


def converted(p: Program, v: Known) -> Known:
    if p.chance(0.3):
        stored = p.one(STORED)
        if v.kind in "fi" and v.dtype != BOOL:
            v = v if v.bound <= LARGEST[str(stored)] else p.clipped(v, 2)
            return Known(v.x.astype(stored).astype(v.dtype), v.bound)
    return p.converted(v, p.one([*p.dtypes, *DTYPES]))


def transposed(p: Program, v: Known) -> Known:
    order = tuple(int(i) for i in p.rng.permutation(len(v.shape)))
    return Known(p.np.transpose(v.x, order), v.bound)


def reshaped(p: Program, v: Known) -> Known:
    sizes = [int(n) for n in p.rng.permutation([*v.shape, 1])]
    chosen = p.one([tuple(sizes), (prod(v.shape),), (1, prod(v.shape))])
    if len(v.shape) > 1 and p.chance(0.4):
        chosen = (v.shape[0] * v.shape[1], *v.shape[2:])
    return Known(p.np.reshape(v.x, chosen), v.bound)


def broadcast(p: Program, v: Known) -> Known:
    sizes = tuple(p.below(4) + 1 if n == 1 else n for n in v.shape)
    more = tuple(p.below(4) + 1 for _ in range(p.below(2)))
    return Known(p.np.broadcast_to(v.x, (*more, *sizes)), v.bound)


def sliced(p: Program, v: Known) -> Known:
    slices = []
    for n in v.shape:
        start = p.below(n)
        stop = start + 1 + p.below(n - start)
        slices.append(slice(start, stop, 1 + p.below(2)))
    return Known(v.x[tuple(slices)], v.bound)


def flipped(p: Program, v: Known) -> Known | None:
    if not v.shape:
        return None
    axis = p.below(len(v.shape))
    found = p.np.flip(v.x, axis) if p.chance(0.4) else p.np.roll(v.x, 1 + p.below(3), axis)
    return Known(found, v.bound)


def padded(p: Program, v: Known) -> Known:
    config = [(p.below(4) - 1, p.below(3) - (n > 2), p.below(2)) for n in v.shape]
    config = [
        (low, high if low + high + n > 0 else 1 - min(low, 0), inner)
        for n, (low, high, inner) in zip(v.shape, config, strict=True)
    ]
    return Known(p.lib.pad(v.x, p.number(v.dtype), config), max(v.bound, 2))


def joined(p: Program, v: Known) -> Known | None:
    if not v.shape:
        return Known(p.np.stack([v.x, p.partner(v).x, v.x]), inf if v.bound > 2 else 2)
    parts = [v, p.partner(v)] + [v] * p.below(2)
    parts = [parts[i] for i in p.rng.permutation(len(parts))]
    bound = max(w.bound for w in parts)
    axis = p.below(len(v.shape))
    join = p.one([p.np.concatenate, p.np.stack])
    return Known(join([w.x for w in parts], axis), bound)


def reduced(p: Program, v: Known) -> Known:
    axes = tuple(i for i in range(len(v.shape)) if p.chance(0.6))
    keep = p.chance(0.3)
    if v.dtype == BOOL:
        return Known(p.one([p.np.any, p.np.all])(v.x, axes, keepdims=keep), 1)
    name = p.one(["sum", "sum"] + ["max", "min", "argmax"] * (v.kind != "c"))
    if name == "argmax":
        axis = p.below(len(v.shape)) if v.shape else None
        found = p.one([p.np.argmax, p.np.argmin])(v.x, axis)
        return Known(found.astype(np.int32), prod(v.shape))
    if name != "sum":
        return Known(getattr(p.np, name)(v.x, axes, keepdims=keep), v.bound)
    count = prod(v.shape[i] for i in axes)
    v = p.fitting(v, count)
    return Known(p.np.sum(v.x, axes, dtype=v.dtype, keepdims=keep), v.bound * count)


def multiplied(p: Program, v: Known) -> Known | None:
    """A product of matrices, or of batches of them."""
    if v.dtype == BOOL or len(v.shape) < 1:
        return None
    n = v.shape[-1]
    fitting = [w for w in p.values if w.dtype == v.dtype and w.shape[:1] == (n,)]
    fitting = [w for w in fitting if len(w.shape) <= 2]
    shape = (n, 1 + p.below(4))
    w = p.one(fitting) if fitting and p.chance(0.6) else p.given(shape, v.dtype)
    v = p.fitting(v, 2 * n * v.bound)
    w = p.fitting(w, 2 * n * v.bound)
    return Known(p.np.matmul(v.x, w.x).astype(v.dtype), 2 * n * v.bound * w.bound)


def convolved(p: Program, v: Known) -> Known | None:
    """An image of the value's last dimensions, by a kernel."""
    if v.dtype == BOOL or not v.shape or v.shape[-1] < 2:
        return None
    rank = min(2 if p.chance(0.3) else 1, len(v.shape))
    lead, places = v.shape[: len(v.shape) - rank], v.shape[len(v.shape) - rank :]
    channels = lead[-1] if lead else 1
    images = prod(lead[:-1])
    if rank == 2 and min(places) < 2:
        return None
    groups = channels if channels > 1 and p.chance(0.2) else 1
    outside = groups * (1 + p.below(3))
    extents = tuple(1 + p.below(min(n, 3)) for n in places)
    between = tuple(
        1 + (p.chance(0.2) and (n - 1) * 2 < m) for n, m in zip(extents, places, strict=True)
    )
    before = tuple(1 + p.chance(0.15) for _ in places)
    strides = tuple(1 + p.chance(0.25) for _ in places)
    padding = tuple((p.below(2), p.below(2)) for _ in places)
    shape = (outside, channels // groups, *extents)
    fitting = [w for w in p.values if (w.shape, w.dtype) == (shape, v.dtype)]
    flat = [w for w in p.values if w.dtype == v.dtype and prod(w.shape) == prod(shape)]
    if fitting or (flat and p.chance(0.7)):
        w = p.one(fitting or flat)
        w = Known(p.np.reshape(w.x, shape), w.bound)
    else:
        w = p.given(shape, v.dtype)
    count = 2 * prod(shape[1:])
    v = p.fitting(v, count * v.bound)
    w = p.fitting(w, count * v.bound)
    image = p.np.reshape(v.x, (images, channels, *places))
    found = p.lib.convolution(image, w.x, strides, padding, before, between, groups)
    return Known(found, count * v.bound * w.bound)


def pooled(p: Program, v: Known) -> Known | None:
    if v.dtype == BOOL or v.kind == "c":
        return None
    extents = tuple(1 + p.below(min(n, 3)) for n in v.shape)
    strides = tuple(1 + p.below(2) for _ in v.shape)
    padding = tuple((p.below(2) if n > 1 else 0, 0) for n in extents)
    name = p.one(["add", "maximum", "minimum"])
    v = p.fitting(v, prod(extents))
    init = {"add": 0, "maximum": _least(v.dtype), "minimum": _largest(v.dtype)}[name]
    combiner = getattr(np, name)
    found = p.lib.reduce_window(v.x, v.dtype.type(init), combiner, extents, strides, padding)
    return Known(found, v.bound * prod(extents))


def _least(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -inf


def _largest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else inf


def accumulated(p: Program, v: Known) -> Known | None:
    if v.dtype == BOOL or not v.shape:
        return None
    axis = p.below(len(v.shape))
    combiner = np.add if v.kind == "c" else p.one([np.add, np.maximum, np.minimum])
    v = p.fitting(v, v.shape[axis])
    found = p.lib.cumulative(v.x, combiner, axis, p.chance(0.4))
    return Known(found, v.bound * v.shape[axis])


def index_of(p: Program, size: int, count: int, apart: bool = False) -> Any:
    """Indices of rows: constants, or computed. Those that are not to be alike are a permutation."""
    if apart:
        return p.np.asarray(p.rng.permutation(size)[:count].astype(np.int32))
    sources = [v for v in p.values if v.kind in "fiu" and prod(v.shape) >= count]
    if sources and p.chance(0.5):
        v = p.converted(p.one(sources), I32)
        return p.np.remainder(p.np.reshape(v.x, (-1,))[:count], np.int32(size))
    return p.np.asarray(p.rng.integers(-1, size, count).astype(np.int32))


def gathered(p: Program, v: Known) -> Known | None:
    if not v.shape:
        return None
    return Known(p.lib.gathered(v.x, index_of(p, v.shape[0], 1 + p.below(4))), v.bound)


def scattered(p: Program, v: Known) -> Known | None:
    if not v.shape or v.kind == "c" or v.dtype == BOOL:
        return None
    how = p.one(["set", "add", "max", "min"])
    count = 1 + p.below(min(4, v.shape[0]))
    index = index_of(p, v.shape[0], count, apart=how == "set")
    rows = [w for w in p.values if (w.shape, w.dtype) == ((count, *v.shape[1:]), v.dtype)]
    row = p.one(rows) if rows and p.chance(0.7) else p.given((count, *v.shape[1:]), v.dtype)
    if how == "add":
        v, row = p.fitting(v, 2), p.fitting(row, 2 * count)
    bound = v.bound + count * row.bound if how == "add" else max(v.bound, row.bound)
    return Known(p.lib.updated(v.x, index, row.x, how), bound)


def starts_of(p: Program, shape: Sequence[int]) -> list[Any]:
    numbers = [w for w in p.values if w.shape == () and w.kind in "iu"]
    numbers = [p.converted(w, I32).x for w in numbers]
    return [p.one(numbers) if numbers and p.chance(0.4) else p.below(n + 2) - 1 for n in shape]


def part(p: Program, v: Known) -> Known:
    sizes = tuple(1 + p.below(n) for n in v.shape)
    return Known(p.lib.dynamic_slice(v.x, starts_of(p, v.shape), sizes), v.bound)


def overwritten(p: Program, v: Known) -> Known:
    """A part of an array is written over it, or over one like it, at another place."""
    found = part(p, v)
    others = [w for w in p.values if w.dtype == v.dtype and len(w.shape) == len(v.shape)]
    others = [w for w in others if all(m <= n for m, n in zip(w.shape, v.shape, strict=True))]
    if p.chance(0.5):
        found = p.one(others) if p.chance(0.6) else p.given(found.shape, v.dtype)
    target = p.partner(v) if p.chance(0.3) else v
    bound = max(target.bound, found.bound)
    return Known(p.lib.dynamic_update_slice(target.x, found.x, starts_of(p, v.shape)), bound)


def ordered(p: Program, v: Known) -> list[Known]:
    if not v.shape or v.kind == "c" or v.dtype == BOOL:
        return []
    axis = p.below(len(v.shape))
    if p.chance(0.3) and v.kind != "u":
        found = p.lib.top_k(v.x, 1 + p.below(v.shape[-1]))
        return [Known(found[0], v.bound), Known(found[1], v.shape[-1])]
    w = p.partner(v)
    found = p.lib.sort(v.x, w.x, axis)
    return [Known(found[0], v.bound), Known(found[1], w.bound)]


def barrier(p: Program, v: Known) -> Known:
    return Known(p.lib.optimization_barrier(v.x), v.bound)


def constant(p: Program, v: Known) -> Known:
    """A splat, mostly: an operand of what comes next."""
    shape = p.one([v.shape, (2,), (3, 2), (1 + p.below(5),)])
    return p.given(shape, p.one([v.dtype, *p.dtypes]))


# ---- products and sums of heads ------------------------------------------------------------------


def of_heads(p: Program, v: Known) -> Known | None:
    """A product of matrices for each head, with one that is given or transposed."""
    if len(v.shape) != 3 or v.kind not in "fc":
        return None
    heads, _, n = v.shape
    fitting = [w for w in p.values if w.dtype == v.dtype and len(w.shape) == 3]
    fitting = [w for w in fitting if w.shape[0] == heads and n in w.shape[1:]]
    shape = (heads, n, p.one(p.kind.sizes))
    w = p.one(fitting) if fitting and p.chance(0.7) else p.array(shape, v.dtype)
    formula = "hqd,hdk->hqk" if w.shape[1] == n else "hqd,hkd->hqk"
    v = p.fitting(v, 2 * n * v.bound)
    w = p.fitting(w, 2 * n * v.bound)
    return Known(p.np.einsum(formula, v.x, w.x).astype(v.dtype), 2 * n * v.bound * w.bound)


def beside_sums(p: Program, v: Known) -> Known | None:
    """A value with what its rows or columns are folded to."""
    if len(v.shape) < 2 or v.kind != "f":
        return None
    axis, count = p.one([(-1, v.shape[-1]), (-2, v.shape[-2])])
    name = p.one(["sum", "sum", "max"])
    v = p.fitting(v, 2 * count)
    folded = getattr(p.np, name)(v.x, axis, keepdims=True)
    return Known(v.x - folded, v.bound * (count + 1))


def rows_of_heads(p: Program, v: Known) -> Known | None:
    if len(v.shape) != 3 or v.kind != "f":
        return None
    count = v.shape[-1]
    v = p.fitting(v, count)
    flat = p.np.reshape(v.x, (-1, count))
    return Known(p.np.sum(flat, -1, dtype=v.dtype), v.bound * count)


# ---- smooth steps --------------------------------------------------------------------------------


def formula(p: Program, v: Known) -> Known:
    v = p.converted(v, F64) if v.kind in "biu" else v
    if v.kind == "c":
        return Known(p.np.sin(p.fitting(v, 10).x), 30)
    v = p.fitting(v, 10)
    name = p.one(["tanh", "sin", "cos", "arctan", "exp", "sqrt", "quotient"])
    if name == "exp":
        return Known(p.np.exp(-v.x * v.x), 1)
    if name == "sqrt":
        return Known(p.np.sqrt(v.x * v.x + 1), v.bound + 1)
    if name == "quotient":
        return Known(p.partner(v).x / (p.np.abs(v.x) + 0.5), 2 * 30)
    return Known(getattr(p.np, name)(v.x), v.bound + 1)


def floored(p: Program, v: Known) -> Known:
    if v.kind != "f":
        return p.converted(v, F64)
    w = p.partner(v)
    return Known(p.np.floor_divide(v.x, p.np.abs(w.x) + 0.37), 3 * v.bound)


def to_complex(p: Program, v: Known) -> Known:
    if v.kind != "c":
        return Known(v.x.astype(C128), v.bound)
    return Known(p.one([p.np.real, p.np.imag])(v.x), v.bound)


MOVES: list[Step] = [transposed, reshaped, broadcast, sliced, flipped, padded, joined]
LOOPS: list[Step] = [looped, stacked, stacked, mapped, branched]
OTHERS: list[Step] = [
    *(reduced, reduced, multiplied, convolved, pooled, accumulated, gathered, scattered, part),
    *(overwritten, ordered, barrier, constant, constant, selected),
]
EXACT = Kind(
    [
        *(arithmetic, arithmetic, arithmetic, unary, bits, compared, converted, converted),
        *MOVES,
        *LOOPS,
        *OTHERS,
    ]
)
EDGES = Kind(
    [
        *random_edges.STEPS,
        *(arithmetic, arithmetic, unary, compared, selected, converted, converted, reduced),
        *MOVES,
        *LOOPS,
        constant,
    ],
    depth=2,
)
"""Steps at the edges, within loops, branches and lanes."""
SMOOTH = Kind(
    [
        *(arithmetic, arithmetic, formula, formula, formula, floored, to_complex),
        *(convolved, convolved, convolved),
        *MOVES,
        *LOOPS,
        *OTHERS,
    ],
    smooth=True,
    dtypes={F64: 6, C128: 1},
)
SMOOTH_EDGES = Kind(
    [
        *random_edges.STEPS,
        *(arithmetic, arithmetic, formula, formula, to_complex, convolved, multiplied, reduced),
        *MOVES,
        *LOOPS,
        constant,
    ],
    smooth=True,
    dtypes={F64: 6, C128: 1},
)
PIECES = Kind(
    [*MOVES, *MOVES, overwritten, overwritten, selected, *[arithmetic] * 5, unary, converted],
    sizes=(1, 2, 3, 7, 17, 30),
    large=(31, 90),
    often=0.9,
    most=4000,
    steps=12,
)
"""Arrays that are put together of parts."""
LARGE = Kind(
    [
        *random_edges.STEPS,
        *[spread] * 6,
        *(arithmetic, arithmetic, unary, bits, compared, selected, converted, converted),
        *(MOVES * 2 + LOOPS + OTHERS),
    ],
    shapes=tuple(
        shape
        for rank in (2, 3, 4)
        for shape in product((1, 2, 3, 7, 8, 16, 17, 33, 64, 100, 300), repeat=rank)
        if 4096 <= prod(shape) <= 20_000
    ),
    alike=True,
    most=60_000,
    depth=2,
)
"""Arrays that are large enough for kernels, many along dimensions of one."""
WITHIN = Kind(
    [
        *([random_edges.shifted] * 4 + [overwritten] * 4 + [part] * 3 + [flipped] * 2),
        *(random_edges.sums_before, random_edges.read, random_edges.written, accumulated, pooled),
        *(gathered, scattered, arithmetic, arithmetic, selected, *MOVES, looped),
    ],
    sizes=(1, 2, 3, 7, 17, 30),
    large=(31, 90),
    often=0.5,
    most=4000,
)
"""Arrays that are written over by parts of themselves, and parts of parts."""
HEADS = Kind(
    [*[of_heads] * 4, *[beside_sums] * 3, rows_of_heads, arithmetic, arithmetic, unary, selected],
    dtypes={F64: 2, np.dtype(np.float32): 2, np.dtype(np.complex64): 1},
    shapes=((8, 40, 24), (8, 24, 40), (8, 40, 40), (8, 24, 24)),
    sizes=(24, 40),
    most=16_000,
    steps=7,
)
"""Products of matrices for each head, and sums of their rows."""
ALIKE = Kind(
    [*[arithmetic] * 4, unary, selected, converted, reduced, accumulated, ordered, sliced, padded],
    sizes=(1, 2, 3),
    large=(130, 300),
    often=1.0,
    most=1500,
    steps=6,
)
"""Arrays that are too large for registers, in few operations."""
HOSTED = Kind(
    [*[branched] * 4, *[told] * 4, looped, looped, arithmetic, arithmetic, unary, selected],
    dtypes={F64: 2, I32: 2, np.dtype(np.float32): 1},
    sizes=(1, 2, 3),
    most=30,
    steps=4,
    depth=2,
    rounds=9,
)
"""Loops that tell the host of values, most in branches."""
RESIDUALS = Kind(
    [
        *([formula] * 4 + [arithmetic] * 6 + [broadcast] * 2),
        *(floored, to_complex, selected, reduced, multiplied, convolved, transposed, reshaped),
        *LOOPS,
    ],
    smooth=True,
    dtypes={F64: 6, C128: 1},
    steps=14,
)
"""Many elementwise operations, of which derivatives do some again."""
