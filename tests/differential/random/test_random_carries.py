"""Random loops that carry arrays, of which each step moves, exchanges, updates and reads parts, in
place where that is right: compiled, beside the evaluator, which runs operation by operation.

The numbers are integers, so that results are equal. Arguments that are not donated are as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.differential.random.trials import SEED, aligned, batches

import irax
import irax.numpy as jnp
from irax import lax

Arrays = tuple[Any, ...]
DEPTH = 2
"""The loops and branches that are in each other, beside the loop of all."""


@dataclass(frozen=True)
class Place:
    """The operands of a step: an array and two others, by the numbers of what is carried; numbers
    of rows; and the steps inside.
    """

    x: int
    y: int
    z: int
    rows: tuple[int, int]
    places: np.ndarray
    inside: Sequence[Sequence[Step]] = ()


Step = tuple[Callable[..., Arrays], Place]


def put(carried: Arrays, number: int, x: Any) -> Arrays:
    return (*carried[:number], x, *carried[number + 1 :])


def of_two(f: Callable[[Any, Any, Place, Any], Any]) -> Callable[..., Arrays]:
    """Return the step that makes one array anew, from it and another."""
    return lambda c, at, i: put(c, at.x, f(c[at.x], c[at.y], at, i))


def half(x: Any) -> int:
    return max(1, len(x) // 2)


def window(x: Any, y: Any, at: Place, i: Any) -> Any:
    part = lax.dynamic_slice_in_dim(y, at.rows[0] + i, half(x))
    return lax.dynamic_update_slice_in_dim(x, part, at.rows[1] - i, 0)


def shifted(x: Any, y: Any, at: Place, i: Any) -> Any:
    return x.at[1:].set(x[:-1]) if at.rows[0] % 2 else x.at[:-1].set(x[1:])


def row_of_another(x: Any, y: Any, at: Place, i: Any) -> Any:
    return x.at[(3 * i + at.rows[0]) % len(x)].set(y[(at.rows[1] + i) % len(x)] + 1)


def found_row(x: Any, y: Any, at: Place, i: Any) -> Any:
    found = jnp.abs(y.ravel()[at.rows[0]].astype(jnp.int32)) % len(x)
    return x.at[found].set(x[at.rows[1]])


def called(x: Any) -> Any:
    """Return what a function of Python makes of an array: the reverse."""
    like = irax.ShapeDtypeStruct(x.shape, x.dtype)
    return irax.pure_callback(lambda x: np.asarray(x)[::-1], like, x, vmap_method="sequential")


def exchanged(carried: Arrays, at: Place, i: Any) -> Arrays:
    return put(put(carried, at.x, carried[at.y]), at.y, carried[at.x])


def chosen(carried: Arrays, at: Place, i: Any) -> Arrays:
    branches = [lambda c, steps=steps: run(steps, c, i) for steps in at.inside]
    if len(branches) == 2:
        return lax.cond(carried[at.x].sum() % 2 == 0, *branches, carried)
    return lax.switch(i % 3, branches, carried)


def looped(carried: Arrays, at: Place, i: Any) -> Arrays:
    step = lambda j, c: run(at.inside[0], c, i + j)
    return lax.fori_loop(0, 1 + at.rows[0] % 3, step, carried)


PLAIN = [
    *(
        of_two(f)
        for f in (
            *(window, shifted, row_of_another, found_row),
            lambda x, y, at, i: x.at[at.rows[0]].set(y[at.rows[1]]),
            lambda x, y, at, i: y.at[at.rows[0]].set(x[at.rows[1]]),
            lambda x, y, at, i: x.at[i % len(x)].add(1),
            lambda x, y, at, i: x.at[: half(x)].set(x[::-1][: half(x)]),
            lambda x, y, at, i: x.at[at.places].add(y[: len(at.places)]),
            lambda x, y, at, i: x.at[at.places].set(y[0]),
            lambda x, y, at, i: y[at.places[np.arange(len(x)) % len(at.places)] % len(x)],
            lambda x, y, at, i: jnp.roll(x, at.rows[0], 0),
            lambda x, y, at, i: x[::-1],
            lambda x, y, at, i: x + y,
            lambda x, y, at, i: jnp.where(x > y, y[::-1], x),
            lambda x, y, at, i: jnp.cumsum(y, 0, dtype=y.dtype),
            lambda x, y, at, i: jnp.sort(y, 0),
            lambda x, y, at, i: lax.optimization_barrier(y),
            lambda x, y, at, i: called(y),
        )
    ),
    exchanged,
]
NESTED = [(chosen, 2), (chosen, 3), (looped, 1)]
"""Steps with steps inside, and how many lists of these."""


def run(steps: Sequence[Step], carried: Arrays, i: Any) -> Arrays:
    for step, place in steps:
        carried = step(carried, place, i)
    return carried


def drawn(rng: np.random.Generator, count: int, length: int, depth: int = 0) -> list[Step]:
    """Return random steps on `count` arrays of a length."""
    steps: list[Step] = []
    for _ in range(rng.integers(1, 6)):
        is_nested = depth < DEPTH and rng.random() < 0.15
        step, lists = NESTED[rng.integers(3)] if is_nested else (PLAIN[rng.integers(len(PLAIN))], 0)
        inside = [drawn(rng, count, length, depth + 1) for _ in range(lists)]
        x, y, z = map(int, rng.integers(0, count, 3))
        first, last = map(int, rng.integers(0, length, 2))
        places = rng.integers(-2, length + 2, max(2, length // 3)).astype(np.int32)
        steps.append((step, Place(x, y, z, (first, last), places, inside)))
    return steps


def random_loop(rng: np.random.Generator) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """Return a random loop, and its arguments."""
    shape = (int(rng.choice([64, 1030, 1500])),)
    if rng.random() < 0.4:
        shape = (int(rng.choice([2, 3, 32])), 129)
    count, length = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    steps = drawn(rng, count, shape[0])
    kind, is_read_later = rng.integers(3), rng.random() < 0.3

    def function(*xs: Any) -> Any:
        if kind == 0:
            found: Any = lax.fori_loop(0, length, lambda i, c: run(steps, c, i), xs)
        elif kind == 1:
            step = lambda c, i: (run(steps, c, i), c[0][:3])
            found = lax.scan(step, xs, jnp.arange(length))
        else:
            following = lambda c: (c[0] + 1, *run(steps, c[1:], c[0]))
            found = lax.while_loop(lambda c: c[0] < length, following, (0, *xs))
        return (found, xs[0] * 2) if is_read_later else found

    dtype = rng.choice(["int32", "int32", "int8", "int16"])
    return function, [rng.integers(-9, 10, shape).astype(dtype) for _ in range(count)]


def arrays(found: Any) -> list[np.ndarray]:
    return [np.array(x) for x in irax.tree.leaves(found)]


def test_updates_of_reversed_arrays() -> None:
    """A kernel read an array from the end on while it wrote it from the beginning."""
    x = np.arange(1030, dtype=np.int32)
    step = lambda i, y: y[::-1].at[i].add(1)
    expected = x
    for i in range(3):
        expected = expected[::-1].copy()
        expected[i] += 1
    found = irax.jit(lambda x: lax.fori_loop(0, 3, step, x))(x)
    np.testing.assert_array_equal(found, expected)


TABLE = aligned(np.arange(2048, dtype=np.int32))


def table(i: Any) -> Any:
    """Return an array that a function of Python keeps."""
    return irax.pure_callback(lambda _: TABLE, irax.ShapeDtypeStruct(TABLE.shape, TABLE.dtype), i)


@pytest.mark.parametrize("is_looped", [False, True])
def test_arrays_that_callbacks_keep(is_looped: bool) -> None:
    """The runtime refused to write parts of them."""
    kept = TABLE.copy()

    def step(i: Any, x: Any) -> Any:
        return table(x[0] + i).at[5 + i].set(x[7])

    steps = (lambda x: lax.fori_loop(0, 3, step, x)) if is_looped else (lambda x: step(0, x))
    found = irax.jit(steps)(np.full(2048, 9, np.int32))
    expected = kept.copy()
    expected[7 if is_looped else 5] = 7 if is_looped else 9
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(TABLE, kept)


@pytest.mark.parametrize("f", [lambda x: x.at[np.array([1, 5])].set(x[0]), jnp.sort])
def test_unsigned_numbers_of_loops_that_call(f: Callable[[Any], Any]) -> None:
    """IREE had no type for what the loop carries and is scattered to, or sorted."""
    x, told = np.arange(40, dtype=np.uint8)[::-1].copy(), []

    def step(_: Any, y: Any) -> Any:
        y = f(y)
        irax.debug.callback(lambda y: told.append(np.array(y)), y, ordered=True)
        return y

    found = irax.jit(lambda x: lax.fori_loop(0, 3, step, x))(x)
    np.testing.assert_array_equal(found, f(jnp.asarray(x)))
    irax.effects_barrier()
    np.testing.assert_array_equal(told[2], found)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_arguments_of_loops_of_few_steps(length: int) -> None:
    """IREE takes a loop of one step apart, whose update wrote to the argument."""
    x, y = np.arange(2048, dtype=np.int32), np.arange(2048, dtype=np.int32)[::-1] * 7 % 100

    def step(i: Any, carried: Arrays) -> Arrays:
        return carried[0].at[632:1656].set(carried[1][:1024]), jnp.sort(carried[1])

    expected, given = (x.copy(), y), [jnp.asarray(aligned(a)) for a in (x, y)]
    for _ in range(length):
        expected[0][632:1656] = expected[1][:1024]
        expected = expected[0], np.sort(expected[1])
    found = irax.jit(lambda *xs: lax.fori_loop(0, length, step, xs))(*given)
    for a, b in (*zip(found, expected, strict=True), *zip(given, (x, y), strict=True)):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "form", ["own", *(pytest.param(f, marks=pytest.mark.slow) for f in ("donated", "lanes"))]
)
@batches(1, few=2)
def test_random_carries(numbers: range, form: str) -> None:
    label = ["own", "donated", "lanes"].index(form)
    function, xs = random_loop(np.random.default_rng((SEED, 110 + label, numbers[0])))
    if form == "lanes":
        function, xs = irax.vmap(function), [np.stack([x, x[::-1], x + 1]) for x in xs]
    with irax.disable_jit():
        expected = arrays(function(*map(jnp.asarray, xs)))
    donated = range(len(xs)) if form == "donated" else ()
    compiled = irax.jit(function, donate_argnums=tuple(donated))
    given = [jnp.asarray(aligned(x)) for x in xs]
    for a, b in zip(arrays(compiled(*given)), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    if form != "donated":
        for a, b in zip(given, xs, strict=True):
            np.testing.assert_array_equal(a, b)
