"""Programs that shift, swap, reverse and permute the elements of one array, beside NumPy: eager,
compiled, with donated memory and in loops. What is written in place must have been read before.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.random.test_random_programs import examples

import irax
import irax.numpy as jnp
from irax import lax

STEPS = 3
"""The steps of loops."""


def put(x, where, values):
    """Return an array with some elements set, of NumPy's or irax's."""
    if not isinstance(x, np.ndarray):
        return x.at[where].set(values)
    x = x.copy()
    x[where] = values
    return x


def add(x, where, values):
    if not isinstance(x, np.ndarray):
        return x.at[where].add(values)
    x = x.copy()
    np.add.at(x, where, values)
    return x


def shift(k):
    """Copy all elements k places on, as far as there are places."""
    source, target = (
        (slice(None, -k), slice(k, None)) if k > 0 else (slice(-k, None), slice(None, k))
    )
    return lambda x: put(x, target, x[source])


def copy(start, end, to):
    return lambda x: put(x, slice(to, to + end - start), x[start:end])


def swap(a, b, size):
    def swapped(x):
        first, second = x[a : a + size], x[b : b + size]
        return put(put(x, slice(a, a + size), second), slice(b, b + size), first)

    return swapped


def reverse(start, end):
    return lambda x: put(x, slice(start, end), x[start:end][::-1])


def permute(order):
    return lambda x: put(x, np.asarray(order), x)


def gather(order, start):
    return lambda x: put(x, slice(start, start + len(order)), x[np.asarray(order)])


def add_shifted(k):
    return lambda x: add(x, slice(k, None), x[: len(x) - k])


def exclusive(x):
    """The sums before each element."""
    sums = x.cumsum(0).astype(x.dtype)
    return put(put(sums, slice(1, None), sums[:-1]), 0, 0)


def neighbours(x):
    return put(x, slice(1, -1), x[2:] + x[:-2] - x[1:-1])


def strided(x):
    half = len(x) // 2
    return put(x, slice(0, 2 * half, 2), x[1 : 2 * half : 2])


def ways(program, x):
    """Yield how the results of a program came about, and they."""
    yield "eager", program(jnp.asarray(x))
    compiled = irax.jit(program)
    argument = jnp.asarray(x)
    yield "jit", compiled(argument)
    np.testing.assert_array_equal(argument, x)
    donated = irax.jit(program, donate_argnums=0)
    yield "donated", donated(jnp.asarray(x))
    yield "donated again", donated(jnp.asarray(x))


def in_a_loop(program):
    return lambda x: lax.fori_loop(0, STEPS, lambda _, y: program(y), x)


def check(program, x, loop=True):
    expected = program(x)
    for way, found in ways(program, x):
        np.testing.assert_array_equal(np.asarray(found), expected, way)
    if loop:
        for _ in range(STEPS - 1):
            expected = program(expected)
        for way, found in ways(in_a_loop(program), x):
            np.testing.assert_array_equal(np.asarray(found), expected, f"{way} in a loop")


def numbers(*extents, dtype=np.int32):
    """Different small integers, whose sums are the same in any order."""
    return np.random.default_rng(0).permutation(math.prod(extents)).reshape(extents).astype(dtype)


N = 21
PROGRAMS = {
    "shift by one": shift(1),
    "shift back": shift(-1),
    "copy within": copy(2, 14, 5),
    "copy back": copy(5, 17, 2),
    "swap": swap(1, 11, 9),
    "reverse": reverse(2, N),
    "permute": permute(np.random.default_rng(1).permutation(N)),
    "gather": gather([3, 3, 0, 20, 7, 6, 5], 2),
    "exclusive sums": exclusive,
    "neighbours": neighbours,
    "add shifted": add_shifted(1),
    "strided": strided,
}
SIZES = [(N,), *(pytest.param(n, marks=pytest.mark.slow) for n in [(N, 5), (5000,), (3000, 7)])]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("extents", SIZES, ids=str)
def test_moves(program, extents):
    if program is PROGRAMS["permute"]:
        program = permute(np.random.default_rng(1).permutation(extents[0]))
    check(program, numbers(*extents))


@pytest.mark.parametrize("extents", [(N,), pytest.param((2000,), marks=pytest.mark.slow)], ids=str)
def test_copies_to_places_that_are_computed(extents):
    """Every offset, forth and back, in one program."""
    size = extents[0] // 3

    @irax.jit
    def moved(x, start, to):
        return lax.dynamic_update_slice(x, lax.dynamic_slice(x, (start,), (size,)), (to,))

    donated = irax.jit(moved, donate_argnums=0)
    x = numbers(*extents)
    places = [0, 1, 2, size - 1, size, extents[0] - size]
    for start in places:
        for to in places:
            expected = copy(start, start + size, to)(x)
            np.testing.assert_array_equal(moved(x, start, to), expected)
            np.testing.assert_array_equal(donated(jnp.asarray(x), start, to), expected)


@pytest.mark.slow
@pytest.mark.parametrize("extents", [(N,), pytest.param((700, 3), marks=pytest.mark.slow)], ids=str)
def test_elements_at_places_that_are_computed(extents):
    """Gathered, and scattered to other places of the same array."""
    rng, x = np.random.default_rng(2), numbers(*extents)
    moved = lambda x, i, j: (x * 2).at[j].set((x * 2)[i] + 1)
    programs = irax.jit(moved), irax.jit(moved, donate_argnums=0)
    for count in (1, 4, extents[0]):
        i, j = rng.integers(0, extents[0], count), rng.permutation(extents[0])[:count]
        expected = put(x * 2, j, x[i] * 2 + 1)
        for program in programs:
            np.testing.assert_array_equal(program(jnp.asarray(x), i, j), expected)


def test_an_element_of_each_row():
    """Read, and written back or set to zero: a step of a game, for several boards."""

    def step(x, i, is_taken):
        y = x.at[0].set(0)
        return y.at[i].set(jnp.where(is_taken, 0, y[i] * 2), mode="clip")

    x, i = numbers(4, 28), np.array([1, 27, 0, 5])
    is_taken = np.array([True, False, True, False])
    expected = put(x, (slice(None), 0), 0)
    rows = np.arange(4)
    expected = put(expected, (rows, i), np.where(is_taken, 0, expected[rows, i] * 2))
    np.testing.assert_array_equal(irax.jit(irax.vmap(step))(x, i, is_taken), expected)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.complex64])
def test_shifts_by_every_offset(dtype):
    with irax.enable_x64():
        x = numbers(13, dtype=dtype)
        for k in [*range(-12, 0), *range(1, 13)]:
            check(shift(k), x, loop=k in (1, -1, 5))


@st.composite
def programs(draw, n):
    """A few moves of an array of n rows, one after the other."""
    place = st.integers(0, n - 1)

    def part():
        start, end = sorted((draw(place), draw(place)))
        return start, end + 1

    def a_copy():
        start, end = part()
        return copy(start, end, draw(st.integers(0, n - (end - start))))

    def a_swap():
        size = draw(st.integers(1, n // 2))
        return swap(draw(st.integers(0, n - size)), draw(st.integers(0, n - size)), size)

    makers = [
        lambda: shift(draw(st.integers(1, n - 1)) * draw(st.sampled_from([1, -1]))),
        a_copy,
        a_swap,
        lambda: reverse(*part()),
        lambda: permute(draw(st.permutations(range(n)))),
        lambda: gather(draw(st.lists(place, min_size=1, max_size=n)), 0),
        lambda: add_shifted(draw(st.integers(1, n - 1))),
        lambda: exclusive,
        lambda: neighbours,
        lambda: strided,
    ]
    steps = [draw(st.sampled_from(makers))() for _ in range(draw(st.integers(1, 5)))]

    def program(x):
        for step in steps:
            x = step(x)
        return x

    return program


@examples(4)
@given(st.data())
@pytest.mark.slow
def test_random_moves(data):
    n, width = data.draw(st.sampled_from([(7, ()), (7, (3,)), (300, ()), (40, (33,))]))
    program = data.draw(programs(n))
    check(program, numbers(n, *width), loop=data.draw(st.booleans()))


PLACES = np.array([0, 3, 3, 1, 0, 5])
HIDDEN = {
    "itself": lambda y, hide: add(y, PLACES, y),
    "behind a barrier": lambda y, hide: add(y, PLACES, hide(y)),
    "behind two": lambda y, hide: add(y, PLACES, hide(hide(y) * 1)),
    "computed": lambda y, hide: add(y, PLACES, hide(y) * 2 + 1),
    "elements": lambda y, hide: put(y, PLACES[1:4], hide(y)[:3][::-1]),
    "part": lambda y, hide: put(y, slice(2, 6), hide(y)[:4]),
    "another shape": lambda y, hide: add(
        y.reshape(2, 3), (slice(None), np.array([0, 2, 0])), hide(y).reshape(3, 2).reshape(2, 3)
    ),
    "transposed": lambda y, hide: add(
        y.reshape(2, 3).T, np.array([0, 2, 0]), hide(y).reshape(2, 3).T
    ),
}
"""Arrays that are updated by themselves, or by what IREE may put into the same memory."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HIDDEN)
def test_updates_by_the_array_itself(name):
    program, x = HIDDEN[name], np.arange(3, dtype=np.float32)

    @irax.jit
    def updated(x):
        y = jnp.concatenate([x, x * 2])
        return program(y, lax.optimization_barrier)

    y = np.concatenate([x, x * 2])
    np.testing.assert_array_equal(np.asarray(updated(x)), program(y, lambda y: y))
