"""Loops in the forms in which they reach IREE, against the same loops in Python."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import blas, mlir
from irax_compiler.lowering import lower
from irax_compiler.passes.kernels.loops import kernels
from irax_compiler.passes.legalize.iree import products as vectors

RNG = np.random.default_rng(0)


def lowered(f, *args) -> str:
    text = irax.make_ir(f)(*args)
    module = mlir.parse_module(str(text))
    return str(lower(module, next(iter(mlir.functions(module)))))


def is_kernel(f, *args) -> bool:
    text = lowered(f, *args)
    return "flow.dispatch @kernel" in text and "stablehlo.while" not in text


def newton(x):
    """A loop in a loop, with branches."""

    def step(i, x):
        x = lax.while_loop(lambda y: y > 3, lambda y: y / 2, x)
        return lax.switch(i % 3, [lambda x: x + 1, lambda x: x * 1.5, lambda x: -x], x)

    return lax.fori_loop(0, 7, step, x)


def by_hand(x):
    for i in range(7):
        while x > 3:
            x = np.float32(x / 2)
        x = np.float32([x + 1, x * 1.5, -x][i % 3])
    return x


def test_loops_and_branches_inside():
    x = np.float32(10)
    assert is_kernel(newton, x)
    np.testing.assert_allclose(irax.jit(newton)(x), by_hand(x), rtol=1e-6)


def test_elements_are_read_where_they_were_written():
    def fibonacci(x):
        return lax.fori_loop(2, 20, lambda i, a: a.at[i].set(a[i - 1] + a[i - 2]), x)

    start = np.ones(20, np.int32)
    expected = start.copy()
    for i in range(2, 20):
        expected[i] = expected[i - 1] + expected[i - 2]
    assert is_kernel(fibonacci, start)
    np.testing.assert_array_equal(irax.jit(fibonacci)(start), expected)
    np.testing.assert_array_equal(start, 1)


def test_arrays_without_elements_are_not_carried():
    """A state of a library has all fields, and some of them are empty."""

    def f(x, empty):
        step = lambda i, c: (c[0] * 2 + c[1].sum(), jnp.sin(c[1]))
        return lax.fori_loop(0, 5, step, (x, empty))

    x, empty = np.float32(1.5), np.zeros((0, 3), np.float32)
    assert is_kernel(f, x, empty)
    y, rest = irax.jit(f)(x, empty)
    assert y == 48
    assert rest.shape == (0, 3)


@pytest.mark.parametrize("width", [1, 5, 16])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.bool_, np.int16])
@pytest.mark.slow
def test_two_stacks_of_one_kind(width, dtype):
    """Both start from the same zeros, and one holds what was carried."""
    xs = RNG.integers(0, 2, (9, width)).astype(dtype)

    def f(xs):
        def step(c, x):
            new = c ^ x if dtype == np.bool_ else c + x
            return new, (c, new, x)

        return lax.scan(step, jnp.zeros(width, dtype), xs)

    assert is_kernel(f, xs)
    last, (before, after, same) = irax.jit(f)(xs)
    accumulate = np.logical_xor if dtype == np.bool_ else np.add
    expected = accumulate.accumulate(xs, dtype=None if dtype == np.bool_ else xs.dtype)
    np.testing.assert_array_equal(after, expected)
    np.testing.assert_array_equal(before[1:], expected[:-1])
    np.testing.assert_array_equal(same, xs)
    np.testing.assert_array_equal(last, expected[-1])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("width", "reverse", "few"), [(3, True, 0), (160, False, 0), (160, True, None)]
)
def test_rows_of_many_elements(width, reverse, few, monkeypatch):
    """In a kernel, or too many for one: each row is put into its place."""
    if few is not None:
        monkeypatch.setattr(kernels, "FEW", few)
    w = RNG.normal(size=(width, width)).astype(np.float32) / width
    xs = RNG.normal(size=(6, width)).astype(np.float32)

    def f(w, xs):
        def step(h, x):
            new = jnp.tanh(w @ h + x)
            return new, (h, new, jnp.sum(new), new > 0, new)

        return lax.scan(step, jnp.ones(width), xs, reverse=reverse)

    text = lowered(f, w, xs)
    assert ("flow.dispatch @kernel" in text) == (few is None)
    assert "dynamic_update_slice" not in text
    h, expected = np.ones(width, np.float32), [None] * 6
    for i in reversed(range(6)) if reverse else range(6):
        new = np.tanh(w @ h + xs[i])
        expected[i] = (h, new, new.sum(), new > 0, new)
        h = new
    last, rows = irax.jit(f)(w, xs)
    np.testing.assert_allclose(last, h, rtol=1e-4, atol=1e-6)
    for found, wanted in zip(rows, zip(*expected, strict=True), strict=True):
        np.testing.assert_allclose(found, np.array(wanted), rtol=1e-4, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("by_blas", ["on", "off"])
def test_matrices_are_transposed_before_the_loop(by_blas, monkeypatch):
    monkeypatch.setenv(blas.VARIABLE, by_blas)
    monkeypatch.setattr(kernels, "FEW", 0)
    monkeypatch.setattr(vectors, "LEAST_MATRIX", 1 << 60)
    w = RNG.normal(size=(160, 140)).astype(np.float32) / 13
    v = RNG.normal(size=(140, 160)).astype(np.float32) / 13
    xs = RNG.normal(size=(9, 160)).astype(np.float32)

    def f(w, v, xs):
        def step(h, x):
            new = jnp.tanh((h @ w) @ v + x)
            return new, (new, v.T @ (w.T @ h))

        return lax.scan(step, jnp.ones(160), xs)

    body = lowered(f, w, v, xs).partition("scf.for")[2]
    products = body.partition("scf.yield")[0].count("contracting_dims = [1] x [0]")
    assert products == (0 if by_blas == "on" and blas.library() else 4)
    h = np.ones(160, np.float32)
    last, (rows, products) = irax.jit(f)(w, v, xs)
    for x, row, product in zip(xs, rows, products, strict=True):
        np.testing.assert_allclose(product, h @ w @ v, rtol=1e-3, atol=1e-5)
        h = np.tanh(h @ w @ v + x)
        np.testing.assert_allclose(row, h, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(last, h, rtol=1e-3, atol=1e-5)


def test_what_comes_before_and_after_a_loop():
    """Values that are used on both sides of it, and beside it."""
    xs = RNG.normal(size=(7, 160)).astype(np.float32)

    def f(xs):
        before = jnp.sum(xs[0])
        tail = xs[:6]
        last, rows = lax.scan(lambda c, x: (jnp.sin(c) + x * before, jnp.sum(c)), xs[6], tail)
        return jnp.concatenate([rows, before[None]]), last + jnp.cos(before), tail

    for found, expected in zip(irax.jit(f)(xs), f(xs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


def test_loops_that_take_no_step():
    empty = irax.jit(lambda x: lax.scan(lambda c, x: (c + x, c), 1.0, x))(np.ones(0, np.float32))
    assert empty[0] == 1.0
    assert empty[1].shape == (0,)
    assert irax.jit(lambda n: lax.fori_loop(0, n, lambda i, x: x + 1, 5))(0) == 5
    assert irax.jit(lambda n: lax.fori_loop(0, n, lambda i, x: x + 1, 5))(-3) == 5


def test_large_tables_are_read_row_by_row():
    table = RNG.normal(size=(50, 3, 4)).astype(np.float32)

    def f(table, n):
        return lax.fori_loop(0, n, lambda i, c: c * 0.5 + table[(i * 7) % 50, 1], jnp.zeros(4))

    assert is_kernel(f, table, 30)
    expected = np.zeros(4, np.float32)
    for i in range(30):
        expected = expected * np.float32(0.5) + table[(i * 7) % 50, 1]
    np.testing.assert_allclose(irax.jit(f)(table, 30), expected, rtol=1e-5)


def test_a_lane_that_diverges_leaves_others_alone():
    def root(x):
        def go_on(state):
            return jnp.abs(state[0] * state[0] - x) > 1e-6 * x

        return lax.while_loop(go_on, lambda s: (0.5 * (s[0] + x / s[0]), s[1] + 1), (x, 0))

    xs = np.array([4, 9, np.nan, 2, np.inf], np.float32)
    found, steps = irax.jit(irax.vmap(root))(xs)
    np.testing.assert_allclose(found[:2], [2, 3], rtol=1e-6)
    assert np.isnan(found[2])
    assert steps[2] == 0


def test_rows_of_complex_numbers():
    xs = (RNG.normal(size=(5, 3)) + 1j * RNG.normal(size=(5, 3))).astype(np.complex64)

    def f(xs):
        return lax.scan(lambda c, x: (c * x, c + x), jnp.ones(3, np.complex64), xs)

    assert "dynamic_update_slice" not in lowered(f, xs)
    last, rows = irax.jit(f)(xs)
    carried = np.cumprod(np.concatenate([np.ones((1, 3)), xs]), axis=0)
    np.testing.assert_allclose(last, carried[-1], rtol=1e-5)
    np.testing.assert_allclose(rows, carried[:-1] + xs, rtol=1e-5)


def kalman(gain, xs):
    """The means of a filter's states, with the factorization of a small matrix in each step."""

    def step(carry, x):
        mean, spread = carry
        factor = jnp.linalg.cholesky(spread + jnp.eye(2))
        half = lax.linalg.triangular_solve(factor, spread, left_side=True, lower=True)
        weight = jnp.linalg.solve(spread + jnp.eye(2), spread)
        mean = mean + weight @ (x - mean)
        return (mean, gain * (spread - half.T @ half) + 0.1 * jnp.eye(2)), mean

    return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), xs)[1]


def test_small_matrices_in_a_loop_are_part_of_its_kernel():
    xs = RNG.standard_normal((20, 2)).astype(np.float32)
    assert is_kernel(kalman, 0.9, xs)
    mean, spread, expected = np.zeros(2), np.eye(2), []
    for x in xs:
        factor = np.linalg.cholesky(spread + np.eye(2))
        half = np.linalg.solve(factor, spread)
        mean = mean + np.linalg.solve(spread + np.eye(2), spread) @ (x - mean)
        spread = 0.9 * (spread - half.T @ half) + 0.1 * np.eye(2)
        expected.append(mean)
    np.testing.assert_allclose(irax.jit(kalman)(0.9, xs), expected, atol=1e-5)


def test_many_rows_at_known_places_are_picked_in_a_kernel():
    orders = RNG.integers(-12, 12, (12, 10))

    def gather(x):
        return lax.fori_loop(0, 2, lambda _, x: sum(x[order] for order in orders) / 12, x)

    x = RNG.standard_normal((10, 10)).astype(np.float32)
    expected = x
    for _ in range(2):
        inside = np.where(orders < 0, orders + 10, orders).clip(0, 9)
        expected = expected[inside].sum(0) / 12
    assert is_kernel(gather, x)
    np.testing.assert_allclose(irax.jit(gather)(x), expected, atol=1e-5)


def mixed(x, y):
    """Moves, reductions, products, branches and loops of arrays in memory."""

    def step(i, state):
        x, y, n = state
        turned = jnp.concatenate([x[1:], x[:1]])[::-1] + jnp.pad(y[2:-1], ((1, 2), (0, 0)))
        scaled = (x - x.mean(0)) / (1 + x.std(1, keepdims=True)) + jnp.arange(y.size).reshape(
            y.shape
        )
        new = lax.cond(i % 2 == 0, lambda: turned, lambda: scaled * 0.01)
        new = lax.fori_loop(0, i, lambda j, z: 0.5 * z + new[j], new)
        product = jnp.tanh(x @ y.T @ new * 0.01)
        largest = jnp.argmax(product, 1)
        return y.at[:, i].set(product[:, 0]), product, n + largest.sum()

    return lax.fori_loop(0, 4, step, (x, y, 0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(5, 27), (16, 16)])
def test_large_arrays_in_a_loop(shape):
    x, y = (RNG.normal(size=shape).astype(np.float32) for _ in range(2))
    assert is_kernel(mixed, x, y)
    for found, expected in zip(irax.jit(mixed)(x, y), mixed(x, y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_more_arrays_than_a_kernel_binds():
    """Small arrays of one dtype are parts of one."""
    dtypes = [np.float32, np.float64, np.int8, np.bool_, np.uint16]
    sizes = [1, 7, 130, 3, 5000]
    start = [RNG.integers(0, 2, n).astype(t) for n in sizes for t in dtypes]
    factors = [RNG.integers(0, 3, n).astype(np.float32) for n in sizes for _ in range(2)]

    def turned(arrays):
        """The arrays of each size, moved on by one dtype."""
        rows = [arrays[i : i + 5] for i in range(0, 25, 5)]
        return [x.astype(t) for row in rows for x, t in zip(row[1:] + row[:1], dtypes, strict=True)]

    def step(i, arrays):
        made = turned(arrays)
        for k, factor in enumerate(factors):
            made[k // 2 * 5 + k % 2] += factor
        return made

    def run(*arrays):
        return lax.fori_loop(0, 7, step, list(arrays))

    expected = start
    for i in range(7):
        expected = step(i, expected)
    with irax.enable_x64():
        assert is_kernel(run, *start)
        for x, y in zip(irax.jit(run)(*start), expected, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("heads, size, dtype", [(3, 37, np.float32), (1, 16, np.float64)])
def test_a_cache_is_read_along_what_products_sum(heads, size, dtype):
    rng = np.random.default_rng(0)  # for some numbers, seven steps make rounding errors large
    cache = rng.normal(size=(heads, 19, size)).astype(dtype)
    query = rng.normal(size=(heads, size)).astype(dtype)

    def decode(cache, query):
        def step(i, state):
            cache, query = state
            cache = cache.at[:, i].set(query)
            scores = jnp.einsum("htd,hd->ht", cache, query)
            return cache, jnp.tanh(jnp.einsum("ht,htd->hd", scores, cache) / 19)

        return lax.fori_loop(0, 7, step, (cache, query))

    with irax.enable_x64(dtype == np.float64):
        assert is_kernel(decode, cache, query)
        found = irax.jit(decode)(cache, query)
    for i in range(7):
        cache[:, i] = query
        scores = np.sum(cache * query[:, None], axis=2)
        query = np.tanh(np.sum(scores[:, :, None] * cache, axis=1) / 19)
    for x, y in zip(found, (cache, query), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [129, 1000])
@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.uint32, np.bool_])
@pytest.mark.slow
def test_large_carries_that_change_places(size, dtype):
    """The next value of one is computed where nothing reads the last one any more."""
    x = RNG.integers(0, 2, size).astype(dtype)

    def f(x, y):
        def step(carry, row):
            a, b, c, d = carry
            return (b, a, a ^ row if dtype == np.bool_ else a + row, d[::-1]), (c, d)

        return lax.scan(step, (x, y, x, y), jnp.stack([x, y, y]))

    y = x[::-1].copy()
    assert is_kernel(f, x, y)
    (a, b, c, d), (rows, turned) = irax.jit(f)(x, y)
    add = np.logical_xor if dtype == np.bool_ else np.add
    for found, expected in zip((a, b, c, d), (y, x, add(x, y), y[::-1]), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(rows, [x, add(x, x), add(y, y)])
    np.testing.assert_array_equal(turned, [y, y[::-1], y])


@pytest.mark.parametrize("is_updated_whole", [False, True])
def test_the_host_sorts_what_is_carried_beside_a_larger_array(is_updated_whole: bool):
    def run(kept, x):
        def step(i, state):
            kept, x = state
            x = jnp.sort(x)
            kept = 0.5 * kept if is_updated_whole else kept
            return kept.at[i].add(x[i]), x[::-1] - kept[:200]

        return lax.fori_loop(0, 9, step, (kept, x))

    kept, x = RNG.normal(size=5000).astype("f"), RNG.normal(size=200).astype("f")
    before = kept.copy(), x.copy()
    results = irax.jit(run)(kept, x)
    np.testing.assert_array_equal(kept, before[0])
    for i in range(9):
        x = np.sort(x)
        kept = 0.5 * kept if is_updated_whole else kept.copy()
        x, element = x[::-1] - kept[:200], x[i]
        kept[i] += element
    for found, expected in zip(results, (kept, x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_elements_that_a_loop_treats_apart():
    """Workgroups share the elements: of odd numbers, in two dimensions, beside tables, counters and
    what is computed in each step from nothing.
    """
    x, table = RNG.normal(size=(131, 127)).astype("f"), RNG.normal(size=33).astype("f")

    def step(i, state, np=jnp):
        x, is_high, total, n = state
        at = (np.abs(x) * 7).astype(np.int32) % 33
        x = np.where(is_high, x - 0.5 * np.take(table, at), x + 0.25 * np.sin(x))
        x = x + np.arange(127, dtype=np.float32) / 127 + n.astype(np.float32)
        return x / 2, x > 0.1, total + at.astype(np.int8), n + 1

    start = x, x > 0, np.zeros(x.shape, np.int8), np.int32(0)

    def run(*state):
        return lax.fori_loop(0, 6, step, state)

    assert "memref.alloca" in lowered(run, *start)
    found = irax.jit(run)(*start)
    expected = start
    for i in range(6):
        expected = step(i, expected, np)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-5)
    assert np.mean(np.asarray(found[1]) != expected[1]) < 1e-3  # where rounding decides
    assert np.mean(np.asarray(found[2]) != expected[2]) < 1e-2
    assert found[3] == 6


@pytest.mark.parametrize("size", [33, 20_000])
def test_tables_of_a_loop(size: int):
    """One is as large as the arrays that the loop carries, so that shares of it would not do."""
    table = RNG.integers(0, size, size).astype(np.int32)
    x = RNG.integers(0, size, 20_000).astype(np.int32)
    found = irax.jit(lambda t, x: lax.fori_loop(0, 5, lambda i, x: t[x], x))(table, x)
    for _ in range(5):
        x = table[x]
    np.testing.assert_array_equal(found, x)


def test_a_kernel_reads_no_large_array_in_each_step():
    """Several cores read it, one after the other product."""

    def attend(cache, query):
        def step(i, query):
            return jnp.einsum("ht,htd->hd", jnp.einsum("htd,hd->ht", cache, query), cache) / 1e3

        return lax.fori_loop(0, 3, step, query)

    assert is_kernel(attend, np.ones((8, 64, 64), "f"), np.ones((8, 64), "f"))
    assert not is_kernel(attend, np.ones((8, 2048, 64), "f"), np.ones((8, 64), "f"))


def test_inputs_are_multiplied_before_the_loop(monkeypatch):
    monkeypatch.setenv(blas.VARIABLE, "off")
    u, w = (RNG.normal(size=n).astype(np.float32) / 3 for n in ((5, 4), (4, 4)))
    xs = RNG.normal(size=(9, 2, 5)).astype(np.float32)

    def f(u, w, xs):
        def step(h, x):
            return jnp.tanh(x @ u + h @ w), jnp.einsum("id,bi->db", u, x)

        return lax.scan(step, jnp.zeros((2, 4)), xs, reverse=True)

    text = lowered(f, u, w, xs)
    assert text.partition("flow.dispatch @kernel")[0].count("stablehlo.dot_general") == 2
    h = np.zeros((2, 4), np.float32)
    for x in xs[::-1]:
        h = np.tanh(x @ u + h @ w)
    last, products = irax.jit(f)(u, w, xs)
    np.testing.assert_allclose(last, h, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(products, np.einsum("id,tbi->tdb", u, xs), rtol=1e-4, atol=1e-6)


def read_after_update(c):
    return lambda i, c: c.at[i].set(2.0 * c[i + 1]) + 0.5 * jnp.sin(c[0]) * c


def swapped(c):
    def step(i, state):
        a, b = state
        return b.at[i].add(a[i]), a.at[i + 1].multiply(0.5)

    return lambda i, c: jnp.sum(jnp.stack(lax.fori_loop(0, 3, step, (c, c))), 0)


def kept_beside_an_inner_loop(c):
    def step(i, c):
        inner = lax.fori_loop(0, 4, lambda j, x: x.at[i + j].set(x[j] + 1), c)
        return 0.5 * (inner + c)

    return step


def updated_in_a_branch(c):
    def step(i, c):
        new = lax.cond(c[i] > 0, lambda c: c.at[i].set(-c[i]), lambda c: c, c)
        return lax.cond(i % 2 == 0, lambda: new.at[0].add(1), lambda: c * 0.5)

    return step


def moved_over_itself(c):
    size = c.shape[0] - 3
    return lambda i, c: lax.dynamic_update_slice(c, lax.dynamic_slice(c, (i % 3,), (size,)), (2,))


def permuted(c):
    places = (7 * jnp.arange(c.shape[0]) + 3) % c.shape[0]
    return lambda i, c: c[places].at[places[: i.dtype.itemsize]].add(c[:4], mode="drop")


def beyond_the_ends(c):
    places = jnp.array([-1, 2, 2, 1000, -5, 0])
    return lambda i, c: c.at[places + i].max(jnp.arange(6.0)).at[i - 2].set(jnp.min(c))


def transposed(c):
    def step(i, c):
        rows = c[:6].reshape(2, 3)
        rows = rows.at[i % 2].set(rows.T[1, ::-1].sum() + rows[1])
        return c.at[:6].set(rows.reshape(-1)).at[1].add(jnp.sum(c[::-1] * c))

    return lambda i, c: step(i, c / 4)


IN_PLACE = [
    *(read_after_update, swapped, kept_beside_an_inner_loop, updated_in_a_branch),
    *(moved_over_itself, permuted, beyond_the_ends, transposed),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [9, 300])
def test_updates_in_place_change_nothing_that_is_read_later(size):
    """All in one program, against the evaluator."""
    x = RNG.uniform(-1, 1, size).astype(np.float32)

    def run(x):
        return [lax.fori_loop(0, 5, make(x), x) for make in IN_PLACE]

    assert is_kernel(run, x)
    for make, found, expected in zip(IN_PLACE, irax.jit(run)(x), run(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=make.__name__)


@pytest.mark.slow
def test_updates_in_place_of_lanes_and_their_gradients():
    places, values = RNG.integers(-4, 9, (3, 6)), RNG.uniform(size=(3, 6)).astype(np.float32)

    def run(c, places, values):
        def step(c, x):
            place, value = x
            c = c.at[place].set(jnp.sin(c[(place + 2) % 5]) * value)
            return c, c[place]

        return jnp.sum(lax.scan(step, c, (places, values))[1] ** 2)

    both = irax.vmap(irax.value_and_grad(run, (0, 2)))
    for size in (5, 60):
        c = RNG.uniform(size=(3, size)).astype(np.float32)
        found, expected = irax.jit(both)(c, places, values), both(c, places, values)
        for a, b in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.float64, np.float16])
def test_windows_of_any_dtype_in_place(dtype):
    x = RNG.integers(0, 2, (40, 6)).astype(dtype)

    def run(x, places):
        def step(x, place):
            rows = x[place]
            return x.at[place[::-1] % 45].set(rows), rows[:, 1:4]

        return lax.scan(step, x, places)

    with irax.enable_x64(True):
        places = RNG.integers(-3, 43, (5, 4)).astype(np.uint8)
        assert is_kernel(run, x, places)
        for a, b in zip(irax.jit(run)(x, places), run(x, places), strict=True):
            assert a.dtype == dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int8, np.bool_])
@pytest.mark.slow
def test_sorts_of_short_rows(dtype):
    """Rows and columns, with ties and all kinds of floats; the few that are read, and all."""
    x = RNG.integers(-3, 3, (5, 24)).astype(dtype)
    if x.dtype.kind == "f":
        x[:, :6] = [np.nan, -0.0, 0.0, -np.inf, np.inf, -np.nan]

    def run(x, steps):
        def step(x, place):
            x = jnp.roll(x.at[0, place].set(x[1, 2]), 5, 1)
            best = lax.top_k(x, 3)
            several = lax.sort((x, jnp.argsort(x, 0), x), dimension=0, num_keys=2)
            return x, (jnp.sort(x), jnp.argsort(x, descending=True), best, several)

        return lax.scan(step, x, steps)

    with irax.enable_x64(True):
        assert is_kernel(run, x, np.arange(3))
        found, expected = irax.jit(run)(x, np.arange(3)), run(x, np.arange(3))
        for a, b in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_sum_bounds_a_loop_of_unknown_length():
    @irax.jit
    def f(x):
        steps = lax.while_loop(lambda t: t * t < x.sum(), lambda t: t + 1, jnp.float32(0))
        weights = jnp.exp(x + steps)
        return weights / weights.sum()

    x = np.linspace(0, 1, 1000, dtype=np.float32)
    weights = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(f(x), weights / weights.sum(), rtol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["zeros", "computed"])
def test_small_arrays_that_begin_as_one_beside_a_large_one(kind: str):
    def run(x, np=jnp):
        first = np.zeros(5, np.float32) if kind == "zeros" else x[:5] * 2

        def step(i, state):
            x, a, b, k = state
            x, k = x * 0.5 + 1, k + x.mean()
            if np is jnp:
                a, b = a.at[i].set(k), b.at[i].set(x[1])
            else:
                a[i], b[i] = k, x[1]
            return x + b[i // 2], a, b, k + a[i // 2]

        start = (x, first, first if np is jnp else first.copy(), np.float32(0.5))
        if np is jnp:
            return lax.fori_loop(0, 5, step, start)
        for i in range(5):
            start = step(i, start)
        return start

    x = np.linspace(0, 1, 3_000_000, dtype=np.float32)
    assert not is_kernel(run, x)
    for found, expected in zip(irax.jit(run)(x), run(x, np), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [7, 33])
def test_a_constant_that_branches_of_a_step_read_whole_and_by_elements(rows: int):
    def total(x, stack):
        def step(state, i):
            x, stack, k = state

            def write():
                return x, stack.at[i].set(x), k + stack[i].sum()

            return lax.cond(i % 2 == 0, write, lambda: state), ()

        state, _ = lax.scan(step, (x, stack, np.float32(0.5)), jnp.arange(5))
        return sum(leaf.sum() for leaf in state)

    x, stack = np.ones((rows, 4), np.float32), np.ones((5, rows, 4), np.float32)
    assert is_kernel(irax.grad(total, argnums=(0, 1)), x, stack)
    of_x, of_stack = irax.jit(irax.grad(total, argnums=(0, 1)))(x, stack)
    np.testing.assert_array_equal(of_x, np.full_like(x, 4))
    np.testing.assert_array_equal(of_stack, np.ones_like(stack))


@pytest.mark.parametrize("shape", [(3, 0, 2), (3, 2)])
def test_a_result_that_only_empty_arrays_read(shape):
    """IREE removes what has no elements, and then finds a carry that no step reads."""

    def solve(y):
        def step(carry):
            i, before, now, y = carry
            y = y * (now - before)
            return i + 1, jnp.minimum(now, 1.0), (i + 1) / 10, y

        return lax.while_loop(lambda carry: carry[1] < 1, step, (0, 0.0, 0.1, y))

    found = irax.jit(solve)(np.ones(shape, np.float32))
    i, before, now, y = 0, np.float32(0), np.float32(0.1), np.ones(shape, np.float32)
    while before < 1:
        y = y * (now - before)
        i, before, now = i + 1, np.minimum(now, np.float32(1)), np.float32((i + 1) / 10)
    for result, expected in zip(found, (i, before, now, y), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_a_kernel_is_written_the_same_each_time():
    """Hashes of values are their addresses: other modules in memory change them."""

    def f(*arrays):
        def step(x, _):
            x = sum((y * x for y in arrays), x)
            return x, x

        return lax.scan(step, arrays[0], length=50)

    text = str(irax.make_ir(f)(*(np.ones(8, np.float32) for _ in range(12))))
    modules = [mlir.parse_module(text) for _ in range(10)]
    texts = {str(lower(module, "f")) for module in modules}
    assert len(texts) == 1
    assert "flow.dispatch @kernel" in texts.pop()


@pytest.mark.parametrize("size", [4, 5])
def test_a_condition_updates_what_is_carried(size: int):
    """No other value can have the memory of such an update."""

    def f(x):
        def holds(carry):
            i, x = carry
            return (i < 20) & (x.at[i % 4].add(1.0)[i % 4] < 2.5)

        def step(carry):
            i, x = carry
            return i + 1, x.at[i % 4].add(1.0)

        return lax.while_loop(holds, step, (0, x))

    x = np.full(size, 1 / 3, np.float32)
    assert is_kernel(f, x)
    steps, found = irax.jit(f)(x)
    with irax.disable_jit():
        expected_steps, expected = f(jnp.asarray(x))
    assert steps == expected_steps
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_a_counter_as_an_unsigned_number(dtype):
    """Beside an array that is too large for a kernel the host counts."""
    x = RNG.random(30000, np.float32)

    def step(i, y):
        return jnp.sort(y) + (i.astype(dtype) * 3).astype(np.float32)

    expected = x
    for i in range(3):
        expected = np.sort(expected) + np.float32(3 * i)
    found = irax.jit(lambda x: lax.fori_loop(0, 3, step, x))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_random_numbers_of_keys_that_a_loop_counts():
    key = irax.random.key(0)

    def draw(i):
        return irax.random.uniform(irax.random.fold_in(key, i), (25088,)).sum()

    found = irax.jit(lambda: lax.fori_loop(0, 3, lambda i, total: total + draw(i), 0.0))()
    np.testing.assert_allclose(found, sum(draw(i) for i in range(3)), rtol=1e-5)


@pytest.mark.parametrize("count", [5, 300])
def test_a_small_array_of_which_two_updates_are_carried(count: int):
    """They cannot share its memory."""
    places = np.arange(count) % 6

    def step(carried, _):
        x, y = carried
        return (x.at[0].set(y[1]), x.at[places].add(np.arange(count, dtype=np.float32))), None

    def f(x, y):
        return lax.scan(step, (x, y), None, length=4)[0]

    x = np.arange(6, dtype=np.float32)
    found = irax.jit(f)(x, x + 1)
    with irax.disable_jit():
        expected = f(x, x + 1)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_elements_of_vectors_of_bfloat16():
    sizes = range(2, 18)

    @irax.jit
    def f(xs, n):
        total = lax.fori_loop(0, n, lambda i, t: t + xs[0][i], xs[0][0])
        return total, [(x[np.array([-1, 0])], x[-2], jnp.concatenate([x[1:], x[:1]])) for x in xs]

    xs = [np.arange(n).astype(jnp.bfloat16) for n in sizes]
    total, found = f(xs, 2)
    assert total == 1
    for n, parts in zip(sizes, found, strict=True):
        for part, expected in zip(parts, ([n - 1, 0], n - 2, [*range(1, n), 0]), strict=True):
            np.testing.assert_array_equal(part, np.asarray(expected, jnp.bfloat16))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_places_that_are_a_counter_and_a_number(dtype):
    """Bounds of sums of int64 overflowed, so that all places were taken for negative ones."""
    with irax.enable_x64():
        x, n = np.arange(8.0), np.array(2, dtype)
        found = irax.jit(lambda x, n: lax.fori_loop(0, 3, lambda i, y: y.at[i + n].add(1), x))(x, n)
        np.testing.assert_array_equal(found, x + (np.arange(8) // 2 - 1 == 0) + (np.arange(8) == 4))
        start = (np.array(0, dtype), x)
        step = lambda c: (c[0] + 1, lax.fori_loop(0, 2, lambda j, y: y.at[c[0] + j].add(1), c[1]))
        found = irax.jit(lambda *c: lax.while_loop(lambda c: c[0] < 3, step, c))(*start)[1]
        np.testing.assert_array_equal(found, x + [1, 2, 2, 1, 0, 0, 0, 0])
