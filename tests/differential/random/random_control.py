"""The steps of random functions that have functions of their own: loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.differential.random.random_functions import BOOL, I32, Known, Program


def _carry_of(p: Program, v: Known) -> list[Known]:
    carry = [v, *(p.one(p.values) for _ in range(p.below(3)))]
    carry = [Known(w.x, max(w.bound, 2)) for w in carry]
    return [*carry, p.splat(p.one([(), (2,)]), v.dtype)] if p.chance(0.3) else carry


def loop_body(p: Program, known: Sequence[Known], carry: Sequence[Known], seed: int) -> Program:
    inner = p.inside([*known, *carry], seed)
    inner.run(1 + inner.below(4))
    return inner


def looped(p: Program, v: Known) -> list[Known]:
    if p.depth > p.kind.depth:
        return []
    carry, seed, count = _carry_of(p, v), p.seed(), 1 + p.below(p.kind.rounds)

    def body(i: Any, xs: Any) -> Any:
        now = [Known(x, c.bound) for x, c in zip(xs, carry, strict=True)]
        inner = loop_body(p, [Known(i, count)], now, seed)
        return tuple(inner.returned(c).x for c in now)

    if p.chance(0.6):
        found = p.lib.fori_loop(0, count, body, tuple(c.x for c in carry))
    else:
        limit = np.int32(count)
        start = (p.np.asarray(np.int32(0)), *(c.x for c in carry))
        goes_on = _goes_on(p, carry, limit)
        step = lambda s: (s[0] + np.int32(1), *body(s[0], s[1:]))
        most = count if p.smooth else None  # which a loop needs to have a gradient
        found = p.lib.while_loop(goes_on, step, start, most)[1:]
    return [Known(x, c.bound) for x, c in zip(found, carry, strict=True)]


def _goes_on(p: Program, carry: Sequence[Known], limit: Any) -> Callable[..., Any]:
    known = p.chance(0.5) or carry[0].kind == "c" or carry[0].dtype == BOOL

    def goes_on(state: Any) -> Any:
        if known:
            return state[0] < limit
        largest = p.np.max(state[1])
        return p.np.logical_and(state[0] < limit, largest != carry[0].dtype.type(1))

    return goes_on


def stacked(p: Program, v: Known) -> list[Known]:
    """A scan, whose rows may be constants, and what it stacks the operands of what comes next."""
    if p.depth > p.kind.depth:
        return []
    carry, seed = _carry_of(p, v), p.seed()
    rows = p.one(p.values) if p.chance(0.6) else None
    rows = rows if rows is not None and rows.shape and rows.shape[0] <= 5 else None
    length = rows.shape[0] if rows is not None else 1 + p.below(4)
    bounds: list[float] = []

    def body(xs: Any, row: Any) -> Any:
        now = [Known(x, c.bound) for x, c in zip(xs, carry, strict=True)]
        own = [] if row is None or rows is None else [Known(row, rows.bound)]
        inner = loop_body(p, own, now, seed)
        stacks = rows_of(inner)
        bounds[:] = [s.bound for s in stacks]
        return tuple(inner.returned(c).x for c in now), tuple(s.x for s in stacks)

    start = tuple(c.x for c in carry)
    last, stacks = p.lib.scan(body, start, None if rows is None else rows.x, length)
    found = [Known(x, c.bound) for x, c in zip(last, carry, strict=True)]
    return found + [Known(x, b) for x, b in zip(stacks, bounds, strict=True)]


def rows_of(inner: Program) -> list[Known]:
    """Return the values that a step stacks, of which some are constants."""
    found = []
    for _ in range(1 + inner.below(3)):
        if inner.chance(0.45):
            dtype = inner.one([*inner.dtypes, inner.values[0].dtype])
            found.append(inner.given(inner.one([(), (2,), (3,), inner.values[0].shape]), dtype))
        else:
            found.append(inner.value())
    return found


def mapped(p: Program, v: Known) -> list[Known]:
    return of_rows(p, v, p.lib.map_)


def of_rows(p: Program, v: Known, run: Callable[..., Any]) -> list[Known]:
    """A function of each row, which is run over an array by `run`."""
    if p.depth > p.kind.depth or not v.shape or v.shape[0] > 5:
        return []
    seed, bounds = p.seed(), []

    def function(row: Any) -> Any:
        inner = loop_body(p, [Known(row, v.bound)], [], seed)
        found = rows_of(inner)
        bounds[:] = [s.bound for s in found]
        return tuple(s.x for s in found)

    found = run(function, v.x)
    return [Known(x, b) for x, b in zip(found, bounds, strict=True)]


def branched(p: Program, v: Known) -> list[Known]:
    if p.depth > p.kind.depth:
        return []
    operands = [v, p.one(p.values)]
    results = [Known(w.x, max(w.bound, 2)) for w in (p.one(operands), p.one(p.values))]
    count = 2 + p.below(2)
    seeds = [p.seed() for _ in range(count)]

    def branch(seed: int) -> Callable[..., Any]:
        def function(*xs: Any) -> Any:
            now = [Known(x, w.bound) for x, w in zip(xs, operands, strict=True)]
            inner = loop_body(p, [], now, seed)
            return tuple(inner.returned(r).x for r in results)

        return function

    branches = [branch(seed) for seed in seeds]
    given = tuple(w.x for w in operands)
    w = p.one([w for w in p.values if w.kind != "c"] or [p.splat((), I32)])
    if count == 2:
        largest = p.np.max(w.x)
        predicate = largest > w.dtype.type(0) if w.dtype != BOOL else largest
        found = p.lib.cond(predicate, *branches, *given)
    else:
        index = p.converted(Known(p.np.max(w.x), w.bound), I32)
        found = p.lib.switch(index.x, branches, *given)
    return [Known(x, r.bound) for x, r in zip(found, results, strict=True)]


def told(p: Program, v: Known) -> Known | None:
    """In branches of loops, and seldom elsewhere in loops, the host is told a value."""
    if p.depth < 2 and (p.depth < 1 or p.chance(0.9)):
        return None
    return Known(p.lib.tell(v.x), v.bound)
