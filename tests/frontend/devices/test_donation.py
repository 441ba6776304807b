"""Donated arguments on the processor: results in their memory, and what others still see."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import blas

SIZE = 256
pytestmark = pytest.mark.skipif(blas.library() is None, reason=f"{blas.PACKAGE} is not installed")


def adam(state, x, y, rate):
    w, mean, square = state
    g = x.T @ y
    mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
    return w - rate * mean / (jnp.sqrt(square) + 1e-3), mean, square


@pytest.fixture(scope="module")
def step():
    return irax.jit(adam, donate_argnums=0)


def drawn():
    generator = np.random.default_rng(0)
    w, mean, square = generator.standard_normal((3, SIZE, SIZE)).astype(np.float32)
    x, y = generator.standard_normal((2, 64, SIZE)).astype(np.float32)
    return (w, mean, np.abs(square)), x, y, np.float32(0.1)


def exact(state, x, y, rate):
    w, mean, square = (np.asarray(a, np.float64) for a in state)
    g = x.T.astype(np.float64) @ y
    mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
    return w - rate * mean / (np.sqrt(square) + 1e-3), mean, square


def check(got, expected):
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_steps_are_in_place(step):
    first, x, y, rate = drawn()
    state = tuple(map(jnp.asarray, first))
    memory = step.lower(state, x, y, rate).compile().memory_analysis()
    of_state = 3 * SIZE * SIZE * 4
    assert memory.alias_size_in_bytes == of_state
    assert memory.peak_memory_in_bytes < 1.6 * of_state
    expected = first
    for _ in range(5):
        state, expected = step(state, x, y, rate), exact(expected, x, y, rate)
    check(state, expected)


def test_a_donated_array_is_gone(step):
    first, x, y, rate = drawn()
    state = step(tuple(map(jnp.asarray, first)), x, y, rate)
    seen = np.asarray(state[0])
    kept = seen.copy()
    new = step(state, x, y, rate)
    assert all(a.is_deleted() for a in state)
    assert not any(a.is_deleted() for a in new)
    np.testing.assert_array_equal(seen, kept)
    check(new, exact(exact(first, x, y, rate), x, y, rate))
    for use in (np.asarray, jnp.sin, irax.jit(jnp.sin), lambda a: step((a, *new[1:]), x, y, rate)):
        with pytest.raises(RuntimeError, match=r"float32\[256,256\] was used after .* donated"):
            use(state[0])


def test_what_others_have_stays(step):
    """NumPy's arrays, and those of which there is a view."""
    first, x, y, rate = drawn()
    copies = [a.copy() for a in first]
    check(step(first, x, y, rate), exact(first, x, y, rate))
    same = irax.jit(lambda a: a)
    mean = same(jnp.asarray(first[1]))
    again = same(mean)
    step((jnp.asarray(first[0]), again, jnp.asarray(first[2])), x, y, rate)
    np.testing.assert_array_equal(mean, first[1])
    for a, b in zip(first, copies, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_array_is_donated_once():
    x = jnp.arange(4.0)
    both = irax.jit(lambda a, b: (a + 1, b * 2), donate_argnums=(0, 1))
    one = irax.jit(lambda a, b: (a + 1, b * 2), donate_argnums=1)
    for _ in range(2):  # the second time the short way
        for call in (lambda: both(x, x), lambda: one(x, x)):
            with pytest.raises(RuntimeError, match="given again"):
                call()
        y = x.copy()
        np.testing.assert_array_equal(both(x.copy(), y)[1], [0, 2, 4, 6])
        np.testing.assert_array_equal(one(x, x.copy())[0], [1, 2, 3, 4])
    np.testing.assert_array_equal(x, np.arange(4))


def test_what_the_program_still_reads():
    """A product needs the old weights after the new ones could be written."""
    first, x, _, rate = drawn()

    def f(w, x, rate):
        new = w - rate * (x.T @ x)
        return new, new @ w, jnp.sum(w, axis=0)

    new, product, total = irax.jit(f, donate_argnums=0)(jnp.asarray(first[0]), x, rate)
    w = first[0].astype(np.float64)
    expected = w - rate * (x.T.astype(np.float64) @ x)
    check((new, product / SIZE, total), (expected, expected @ w / SIZE, w.sum(0)))


def same_again(x):
    return jnp.negative(jnp.negative(x))


def donated_steps(function, state, *arguments, steps=4):
    """Run a step that takes over its state, beside the evaluator on copies. Return how much of the
    state's memory a program writes to.
    """
    step = irax.jit(function, donate_argnums=0)
    seen = []
    expected = np.asarray(state).copy()
    for i in range(steps):
        with irax.disable_jit():
            expected, *others = map(np.asarray, function(jnp.asarray(expected), *arguments, i))
        expected = expected.copy()
        new, *found = step(state, *arguments, i)
        assert not isinstance(state, irax.Array) or state.is_deleted()
        state = new
        seen.append((found, others))
        np.testing.assert_array_equal(state, expected)
    for found, others in seen:  # nothing of an earlier step has changed meanwhile
        for a, b in zip(found, others, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    program = step.lower(state, *arguments, 0).compile().memory_analysis()
    return program.alias_size_in_bytes


@pytest.mark.slow
@pytest.mark.parametrize("combine", ["add", "set"])
def test_a_few_of_many_elements_are_written_in_place(combine):
    places, x = np.array([1, 5, 5, 7000], np.int32), np.ones(9000, np.float32)
    step = irax.jit(lambda x, v: getattr(x.at[places], combine)(v), donate_argnums=0)
    program = step.lower(x, 2.0).compile()
    assert program.memory_analysis().alias_size_in_bytes == x.nbytes
    expected = x.copy()
    if combine == "add":
        np.add.at(expected, places, 2.0)
    else:
        expected[places] = 2.0
    np.testing.assert_array_equal(step(jnp.asarray(x), 2.0), expected)


V = np.full(3, 100.0, np.float32)
ROWS = np.array([1, 5, 5, 20], np.int32)

UPDATES = {
    "slice": (lambda x, v, i: (lax.dynamic_update_slice(x, v, (i,)),), True),
    "element": (lambda x, v, i: (x.at[i].set(v[0]),), True),
    "sum": (lambda x, v, i: (x.at[ROWS + i].add(v[0]),), True),
    "sort": (lambda x, v, i: (jnp.sort(x),), None),
    "twice": (
        lambda x, v, i: (lax.dynamic_update_slice(x.at[2].set(v[1]), v, (i,)),),
        None,
    ),
    "elementwise": (lambda x, v, i: (x * 0.5 + v[0] * i, (x - v[1]).sum()), False),
    "step": (lambda x, v, i: (x - 0.25 * v[0] * i,), False),  # 256 elements are not worth it
    "old too": (lambda x, v, i: (x.at[i].set(v[0]), x), False),
    "sum of old": (lambda x, v, i: (x.at[i].set(v[0]), x.sum()), False),
    "old rows": (lambda x, v, i: (x.at[i].set(x[i + 1] + x[0]), x[3:9]), False),
    "reshaped": (lambda x, v, i: ((n := x.at[i].set(v[0])), n.reshape(4, -1)), None),
    "part": (lambda x, v, i: ((n := x.at[i].set(v[0])), n[8:]), None),
    "negated twice": (
        lambda x, v, i: ((n := x.at[i].set(v[0])), same_again(n)),
        None,
    ),
    "two of one": (lambda x, v, i: (x.at[i].set(v[0]), x.at[i + 1].set(v[1])), False),
    "in a loop": (
        lambda x, v, i: (lax.fori_loop(0, 3, lambda k, c: c.at[k + i].add(v[0]), x),),
        None,
    ),
    "captured by a loop": (
        lambda x, v, i: (lax.fori_loop(0, 3, lambda k, c: c + x.at[k].set(v[0] + i), x),),
        None,
    ),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", UPDATES)
def test_updates_of_a_donated_array(name):
    function, is_in_place = UPDATES[name]
    x = np.random.default_rng(1).standard_normal(256).astype(np.float32)
    kept = x.copy()
    alias = donated_steps(function, x, V)
    np.testing.assert_array_equal(x, kept)
    if is_in_place is not None:
        assert alias == is_in_place * x.nbytes


@pytest.mark.parametrize(
    "form", [lambda n: n.reshape(-1), lambda n: n[:5], lambda n: same_again(n)]
)
def test_a_result_that_shares_memory_is_not_overwritten(form):
    def step(w, x):
        new = w - 0.1 * (x.T @ x)
        return new, form(new)

    jitted = irax.jit(step, donate_argnums=0)
    w, other = jitted(jnp.ones((SIZE, SIZE)), jnp.ones((64, SIZE)))
    kept = np.array(other)
    jitted(w, jnp.ones((64, SIZE)))
    np.testing.assert_array_equal(other, kept)


RETURNED = {
    "itself": lambda x: x,
    "another shape": lambda x: x.reshape(-1),
    "one of two": lambda x: (x + 1, x),
    "a branch": lambda x: irax.lax.cond(x[0] == 0, lambda: x, lambda: x + 1),
    "a loop": lambda x: irax.lax.fori_loop(0, 0, lambda i, y: y + 1, x),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", RETURNED)
@pytest.mark.parametrize("size", [6, 1 << 16])
def test_a_result_that_is_an_argument_outlives_its_donation(name, size):
    function, step = irax.jit(RETURNED[name]), irax.jit(lambda x: x.at[1].set(7), donate_argnums=0)
    for _ in range(2):
        x = jnp.arange(float(size)) + 0
        found = irax.tree_util.tree_leaves(function(x))[-1]
        step(x)
        assert x.is_deleted()
        np.testing.assert_array_equal(found, np.arange(size))


def test_views_of_an_updated_array_stay():
    step = irax.jit(lambda x, i: x.at[i].set(7.0), donate_argnums=0)
    x = step(jnp.zeros(3000), 0)
    view = np.asarray(x)
    x = step(x, 1)
    assert view[:3].tolist() == [7, 0, 0]
    assert np.asarray(x)[:3].tolist() == [7, 7, 0]
    same = irax.jit(lambda a: a)(x)
    other = irax.jit(lambda a: a)(same)
    step(same, 2)
    assert np.asarray(other)[:3].tolist() == [7, 7, 0]


LARGE = 1 << 14


def sgd(state, g, i):
    p, m = state
    m = 0.5 * m + g
    return (p - 0.25 * m * (i + 1), m), i


def read_too(state, g, i):
    p, m = state
    return (p - 0.25 * m, m * 0.5 + g), m[5]


def scanned(state, g, i):
    def step(carry, k):
        p, m = carry
        p = p.at[k + i].add(2.0)
        return (p, m * 0.5 + g), p[k]

    return lax.scan(step, state, jnp.arange(3))


def captured(state, g, i):
    """Each step reads the arrays as they were given."""
    p, m = state
    steps = lax.fori_loop(0, 3, lambda k, c: (c[0] * 0.5 + p, c[1] + m), (g, g))
    return steps, i


def reversed_too(state, g, i):
    p, m = state
    return (p[::-1] + p, m[::-1] * 0.5), m[0]


STEPS = {
    "sgd": (sgd, LARGE, 2),
    "odd": (sgd, LARGE + 3, 0),
    "read too": (read_too, LARGE, 1),
    "scan": (scanned, LARGE, 2),
    "captured": (captured, LARGE, 0),
    "reversed": (reversed_too, LARGE, 0),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", STEPS)
def test_steps_of_large_arrays(name):
    function, size, in_place = STEPS[name]
    generator = np.random.default_rng(2)
    first = tuple(generator.integers(-8, 8, (2, size)).astype(np.float32))
    g = generator.integers(-8, 8, size).astype(np.float32)
    step = irax.jit(function, donate_argnums=0)
    state, expected = tuple(map(jnp.asarray, first)), first
    for i in range(4):
        view = np.asarray(state[1]) if i == 2 else None
        kept = np.array(state[1])
        given = state
        state, other = step(state, g, i)
        assert all(x.is_deleted() for x in given)
        with irax.disable_jit():
            expected, expected_other = function(tuple(map(jnp.asarray, expected)), g, i)
        for a, b in zip((*state, other), (*expected, expected_other), strict=True):
            np.testing.assert_array_equal(a, b)
        assert view is None or np.array_equal(view, kept)
    memory = step.lower(state, g, 0).compile().memory_analysis()
    assert memory.alias_size_in_bytes == in_place * size * 4


@pytest.mark.parametrize(
    "use",
    [
        irax.block_until_ready,
        lambda x: irax.device_put(x, irax.devices()[0]),
        lambda x: irax.device_put(x, irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P())),
    ],
)
def test_what_was_given_up_is_neither_ready_nor_moved(use):
    x = jnp.arange(3.0)
    irax.jit(lambda x: x + 1, donate_argnums=0)(x)
    with pytest.raises(RuntimeError, match="its memory had been given up"):
        use(x)


@pytest.mark.parametrize(
    "copied",
    [
        jnp.copy,
        jnp.array,
        copy.copy,
        copy.deepcopy,
        lambda x: jnp.asarray(x, copy=True),
        lambda x: jnp.array(x, x.dtype),
        lambda x: jnp.astype(x, x.dtype, copy=True),
        lambda x: x.astype(x.dtype, copy=True),
        lambda x: x.reshape(x.shape, copy=True),
        lambda x: x.flatten(),
        lambda x: jnp.meshgrid(x)[0],
        lambda x: jnp.nan_to_num(x),
        lambda x: irax.freeze(irax.new_ref(x)),
    ],
)
def test_copies_stay_when_the_array_is_donated(copied):
    x = jnp.arange(3.0)
    other = copied(x)
    assert other is not x
    assert jnp.asarray(x) is x
    assert jnp.array(x, copy=False) is x
    increment = irax.jit(lambda x: x + 1, donate_argnums=0)
    increment(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(other, [0, 1, 2])
    for _ in range(10):  # after which some functions are replayed
        x = irax.device_put(np.arange(3.0, dtype=np.float32), irax.devices()[0])
        increment(copied(x))
        np.testing.assert_array_equal(x, [0, 1, 2])
    weak = jnp.broadcast_to(2.0, 3)
    increment(copied(weak))
    np.testing.assert_array_equal(weak, [2, 2, 2])


def test_donated_arrays_keep_an_address_that_was_asked_for():
    def increment(x):
        return x + 1

    f = irax.jit(increment, donate_argnums=0)
    for x in (jnp.array(0.0), jnp.zeros(7), jnp.zeros(100_000)):
        place = x.unsafe_buffer_pointer()
        for _ in range(3):
            old, x = x, f(x)
            assert old.is_deleted()
            assert x.unsafe_buffer_pointer() == place
        np.testing.assert_array_equal(x, np.full(x.shape, 3))


def test_what_others_have_keeps_its_elements_when_donated():
    f = irax.jit(lambda x: (x + 1, 2 * x, x), donate_argnums=0)
    x = jnp.arange(4.0)
    there = np.asarray(x)
    place = x.unsafe_buffer_pointer()
    assert place == there.ctypes.data
    results = f(x)
    np.testing.assert_array_equal(there, np.arange(4))
    y = jnp.arange(4.0) + 0
    y.unsafe_buffer_pointer()
    for found in results, f(y):
        np.testing.assert_array_equal(found, [np.arange(4) + 1, 2 * np.arange(4), np.arange(4)])


def test_a_kernel_that_overwrites_a_donated_array_may_count():
    n = 1 << 15
    f = irax.jit(lambda x: (x * jnp.arange(n), x + 1), donate_argnums=0)
    scaled, more = f(jnp.ones(n))
    np.testing.assert_array_equal(scaled, np.arange(n))
    np.testing.assert_array_equal(more, np.full(n, 2))


def test_filling_a_part_of_a_large_array_of_numpys():
    fill = irax.jit(lambda a: a.at[:3].set(9.0), donate_argnums=0)
    given = jnp.asarray(np.ones(200_000, np.float32))
    expected = np.ones(200_000, np.float32)
    expected[:3] = 9.0
    np.testing.assert_array_equal(fill(given), expected)
    np.testing.assert_array_equal(fill(irax.device_put(np.ones(200_000, np.float32))), expected)


@pytest.mark.slow
def test_donated_arrays_of_functions_of_hundreds_of_arrays():
    """IREE compiles such functions in parts, which take lists."""

    def step(weights, means, gradients):
        means = [0.5 * m + 0.5 * g for m, g in zip(means, gradients, strict=True)]
        return [w - 0.25 * m for w, m in zip(weights, means, strict=True)], means

    def arrays(number):
        return [jnp.full((128, 128), number + i, jnp.float32) for i in range(80)]

    trees = [arrays(number) for number in (1.0, 2.0, 4.0)]
    compiled = irax.jit(step, donate_argnums=(0, 1)).lower(*trees).compile()
    assert compiled.memory_analysis().alias_size_in_bytes == 160 * (1 << 16)
    weights, means = compiled(*trees)
    places = {x._buffer.place for x in (*weights, *means)}
    weights, means = compiled(weights, means, trees[2])
    assert {x._buffer.place for x in (*weights, *means)} == places  # no copies between
    for i, (w, m) in enumerate(zip(weights, means, strict=True)):
        assert float(m[0, 1]) == 0.5 * (3 + i) + 0.5 * (4 + i)
        assert float(w[1, 0]) == 1 + i - 0.25 * (3 + i) - 0.25 * float(m[0, 1])


@pytest.mark.slow
def test_results_of_equal_parts_are_apart():
    """Results of one call of a part that are equal, or a part of another, share no memory that a
    later call, which they are donated to, could write to for one of them."""

    def first(xs):
        return [(x + 1, x + 1, (x + 1)[:64]) for x in xs], [xs[0] * 2 for _ in xs]

    def second(xs):
        return [x - 3 for x in xs]

    xs = [np.full((128, 128), i, np.float32) for i in range(80)]
    groups, doubled = irax.jit(first)([jnp.asarray(x) for x in xs])
    donated = irax.jit(second, donate_argnums=0)
    lowered = donated([g[0] for g in groups])
    np.testing.assert_array_equal([x[0, 0] for x in lowered], np.arange(80) - 2)
    for i, (_, same, part) in enumerate(groups):
        assert float(same.max()) == float(same.min()) == float(part.max()) == i + 1
    lowered = donated(doubled[:40] + [jnp.asarray(x) for x in xs[40:]])
    assert all(float(x.max()) == -3 for x in lowered[:40])
    assert all(float(x.max()) == 0 for x in doubled[40:])


@pytest.mark.slow
def test_donated_arrays_that_a_later_part_reads():
    """A call updates arrays of which a kernel after it reads one."""

    def updated(xs, ys):
        found = []
        for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
            if i % 3 == 0:
                found.append(x.at[3].set(y[0] * ys[i - 3][1]))
            elif i == 1:
                found.append(x - 0.5 * xs[141])
            else:
                found.append(jnp.tanh(x) @ y if i % 3 == 1 else x * 2 + y)
        return found

    xs, ys = np.random.default_rng(0).standard_normal((2, 150, 256, 256)).astype(np.float32)
    donated = [jnp.array(x) for x in xs]
    found = irax.jit(updated, donate_argnums=0)(donated, list(ys))
    np.testing.assert_allclose(found[1], xs[1] - 0.5 * xs[141], rtol=1e-6)
    expected = xs[141].copy()
    expected[3] = ys[141, 0] * ys[138, 1]
    np.testing.assert_array_equal(found[141], expected)
    np.testing.assert_allclose(found[2], xs[2] * 2 + ys[2], rtol=1e-5, atol=1e-5)


def factors(x, y, b):
    """A step that updates both factors of a product, and reads both after it."""
    t = jnp.tanh(x @ y + b)
    g = 1 - t * t
    return x - 0.1 * (g @ y.T), y - 0.1 * (x.T @ g), b - 0.1 * g.sum(0)


def exact_factors(x, y, b):
    x, y, b = (np.asarray(a, np.float64) for a in (x, y, b))
    g = 1 - np.tanh(x @ y + b) ** 2
    return x - 0.1 * (g @ y.T), y - 0.1 * (x.T @ g), b - 0.1 * g.sum(0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(256, 256, 256), (64, 200, 520)])
@pytest.mark.parametrize("donated", [(0,), (1,), (0, 1), (0, 1, 2)])
def test_what_is_updated_was_read_before(shape, donated):
    """IREE puts the first update and the sum into a group, before what reads the old factor."""
    m, k, n = shape
    generator = np.random.default_rng(0)
    given = [generator.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n), (n,))]
    update = irax.jit(factors, donate_argnums=donated)
    found = update(*map(jnp.array, given))
    for a, b in zip(found, exact_factors(*given), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)


@pytest.mark.slow
def test_what_a_loop_updates_was_read_before():
    generator = np.random.default_rng(1)
    given = [generator.standard_normal(s).astype(np.float32) / 16 for s in ((256, 256),) * 2]
    given.append(generator.standard_normal(256).astype(np.float32))
    loop = irax.jit(lambda *x: lax.fori_loop(0, 3, lambda i, x: factors(*x), x), donate_argnums=0)
    expected = given
    for _ in range(3):
        expected = exact_factors(*expected)
    for a, b in zip(loop(*map(jnp.array, given)), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize(
    "name, product",
    [("x x", lambda x: x @ x), ("x' x", lambda x: x.T @ x), ("x x'", lambda x: x @ x.T)],
)
def test_a_factor_is_no_place_for_the_product(name, product):
    """Other lines of the product read it."""
    x = np.random.default_rng(0).standard_normal((200, 200)).astype(np.float32)
    found = irax.jit(lambda x: x - 0.1 * product(x), donate_argnums=0)(jnp.array(x))
    exact = x.astype(np.float64)
    np.testing.assert_allclose(found, exact - 0.1 * product(exact), atol=1e-3)
    flat = irax.jit(lambda x: x - 0.1 * product(x.reshape(200, 200)).reshape(-1), donate_argnums=0)
    np.testing.assert_allclose(
        flat(jnp.array(x.reshape(-1))), (exact - 0.1 * product(exact)).reshape(-1), atol=1e-3
    )
