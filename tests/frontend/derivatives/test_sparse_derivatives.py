"""Sparse Jacobians and Hessians beside dense ones, and colors beside what is known of them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import irax
import irax.numpy as jnp
from irax import lax, nn, sparse
from irax.scipy.linalg import solve_triangular
from irax.sparse import Coloring, SparsityPattern, compiled_colors, derivatives, products
from irax_compiler import api

RNG = np.random.default_rng(0)


def bratu(u):
    """A nonlinear equation on a grid: five unknowns in a row."""
    p = jnp.pad(u, 1)
    around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return 4 * u - around - 0.1 * jnp.exp(u)


def rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def dense(jacobian, size):
    """The matrix of what `irax.jacfwd` returns for one array and one array."""
    return np.asarray(jacobian).reshape(size, -1)


# ---- patterns ----


def test_patterns_are_those_of_the_equations():
    pattern = sparse.sparsity(bratu)(np.zeros((3, 4), np.float32))
    line = np.eye(3, k=1) + np.eye(3, k=-1)
    other = np.eye(4, k=1) + np.eye(4, k=-1)
    grid = np.kron(line, np.eye(4)) + np.kron(np.eye(3), other) + np.eye(12)
    np.testing.assert_array_equal(pattern.todense(), grid != 0)
    chain = np.eye(5) + np.eye(5, k=1) + np.eye(5, k=-1)
    found = sparse.hessian_sparsity(rosenbrock)(np.zeros(5, np.float32))
    np.testing.assert_array_equal(found.todense(), chain != 0)


def test_patterns_are_for_all_arguments_or_at_some():
    def f(x):
        return irax.lax.cond(x[0] > 0, lambda x: x * x[::-1], lambda x: x, x)

    x = jnp.array([1.0, 0.0, 2.0])
    everywhere = sparse.sparsity(f)(x)
    assert everywhere.todense().astype(int).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert sparse.sparsity(f, local=True)(x).nnz == 4
    assert sparse.sparsity(f, local=True)(-x).todense().astype(int).tolist() == np.eye(3).tolist()


def test_what_a_function_closes_over_is_known():
    scale = np.array([1.0, 0.0, 2.0], np.float32)
    assert sparse.sparsity(lambda x: scale * x)(np.ones(3)).nnz == 2
    mask = np.eye(20, dtype=np.float32)
    assert sparse.sparsity(lambda x: mask @ x)(np.ones(20)).nnz == 20
    inside = jnp.asarray(mask)
    assert sparse.sparsity(lambda x: inside @ x)(np.ones(20)).nnz == 20


def test_indices_with_few_values_read_few_places():
    """Each pattern is the union of those that the values of an index give."""
    x = np.arange(6, dtype=np.float32)
    place = irax.lax.dynamic_slice
    for f, expected in (
        (lambda x: place(x, (jnp.argmax(x[:2]),), (3,)), ["110000", "011000", "001100"]),
        (lambda x: place(x, (jnp.argmax(x[:3]) // 2 + 3,), (2,)), ["000110", "000011"]),
        (lambda x: x[jnp.clip(jnp.int32(x[0]), 2, 4)][None], ["001110"]),
        (lambda x: x[jnp.int32(x[0] > 0) + np.array([0, 3])], ["110000", "000110"]),
        (lambda x: x[:3].at[jnp.argmin(x[4:])].set(x[5]), ["100001", "010001", "001000"]),
        (lambda x: irax.lax.cummax(x[:3]), ["100000", "110000", "111000"]),
    ):
        for size in (x, -x):
            assert pattern_of(f, size) == expected
            dense_one = np.asarray(irax.jacfwd(f)(size)) != 0
            assert not (dense_one & ~sparse.sparsity(f)(size).todense()).any()


def pattern_of(f, x):
    rows = sparse.sparsity(f)(x).todense().astype(int)
    return ["".join(map(str, row)) for row in rows]


def test_what_is_multiplied_by_a_zero_that_stays_has_no_element():
    """Zeros of a mask times an unknown, of an unknown padded, and of quotients."""
    x, mask = np.arange(1, 5, dtype=np.float32), np.array([1, 0, 1, 0], np.float32)
    diagonal = ["1000", "0000", "0010", "0000"]
    assert pattern_of(lambda x: mask / x, x) == diagonal
    assert pattern_of(lambda x: irax.lax.stop_gradient(mask * x) * x, x) == diagonal
    padded = ["0000", "0100", "0010", "0000"]
    assert pattern_of(lambda x: jnp.pad(irax.lax.stop_gradient(x[:2]), 1) * x, x) == padded
    spread = ["1000", "0000", "0010", "0000"]
    eye = np.diag(mask)
    assert pattern_of(lambda x: irax.lax.stop_gradient(eye * x) @ x, x) == spread
    found = sparse.hessian_sparsity(lambda x: jnp.sum(mask * x * x[::-1] * x[0]))(x)
    dense_one = irax.hessian(lambda x: jnp.sum(mask * x * x[::-1] * x[0]))(x)
    np.testing.assert_array_equal(found.todense(), np.asarray(dense_one) != 0)
    shifted = sparse.sparsity(lambda x: jnp.cos(irax.lax.stop_gradient(mask * x)) * x)(x)
    assert shifted.nnz == 4  # a cosine of zero is none


SEEN = np.tril(np.ones((5, 5), bool)) & ~np.tril(np.ones((5, 5), bool), -3)
MASKS = {
    "chosen": lambda s: jnp.where(SEEN, s, -jnp.inf),
    "added": lambda s: s + np.where(SEEN, 0, -np.inf).astype(np.float32),
    "taken away": lambda s: np.float32(0.5) * jnp.where(SEEN, s, -np.inf) - jnp.sum(s),
    "turned": lambda s: jnp.where(SEEN.T[None], s.T, -np.inf)[0].T,
}


@pytest.mark.parametrize("name", MASKS)
def test_what_a_mask_makes_infinite_has_no_weight(name):
    """Attention to the two tokens before, with the mask where softmax has it."""

    def weights(x):
        return nn.softmax(irax.lax.stop_gradient(MASKS[name](x @ x.T)), axis=-1)

    def attention(x):
        return nn.softmax(MASKS[name](x @ x.T), axis=-1) @ x

    x = RNG.normal(size=(5, 2)).astype(np.float32)
    linear = sparse.sparsity(lambda x: weights(x) @ x)(x).todense()
    np.testing.assert_array_equal(linear, np.kron(SEEN, np.eye(2)) != 0)
    there = np.asarray(irax.jacfwd(attention)(x)).reshape(10, 10) != 0
    found = sparse.sparsity(attention)(x).todense()
    assert not (there & ~found).any()
    if name == "chosen":  # the largest weight of the others is one of any
        np.testing.assert_array_equal(found, np.kron(SEEN, np.ones((2, 2))) != 0)
    gates = sparse.sparsity(lambda x: nn.sigmoid(irax.lax.stop_gradient(MASKS[name](x @ x.T))) @ x)
    np.testing.assert_array_equal(gates(x).todense(), linear)


@pytest.mark.parametrize(
    "size, stride, padding, dilation",
    [(2, 2, "VALID", 1), (3, 1, "SAME", 1), (2, 1, "VALID", 2), (3, 2, "SAME", 1)],
)
@pytest.mark.parametrize("combine, init", [(lax.max, -np.inf), (lax.min, np.inf), (lax.max, 0.1)])
def test_max_pooling_has_the_elements_of_its_windows(
    combine, init, size, stride, padding, dilation
):
    def pool(x):
        return lax.reduce_window(
            *(x, init, combine, (size, size), (stride, stride), padding),
            window_dilation=(dilation, dilation),
        )

    def total(x):
        return lax.reduce_window(
            *(x, 0.0, lax.add, (size, size), (stride, stride), padding),
            window_dilation=(dilation, dilation),
        )

    x = RNG.normal(size=(5, 6)).astype(np.float32)
    windows = np.asarray(irax.jacfwd(total)(x)).reshape(-1, x.size) != 0
    pattern = sparse.sparsity(pool)(x)
    np.testing.assert_array_equal(pattern.todense(), windows)
    together = (windows.T.astype(int) @ windows) != 0
    found = sparse.hessian_sparsity(lambda x: jnp.sum(pool(x) ** 2))(x)
    assert not (found.todense() & ~together).any()
    many = np.stack([x, x + 1])
    np.testing.assert_array_equal(
        sparse.sparsity(irax.vmap(pool))(many).todense(), np.kron(np.eye(2), windows) != 0
    )


A = RNG.normal(size=(2, 4, 4)).astype(np.float32)
POSITIVE = A @ A.swapaxes(-1, -2) + np.eye(4, dtype=np.float32)
TRIANGLES = {
    "lower": lambda a: jnp.linalg.cholesky(a),
    "upper": lambda a: jnp.linalg.cholesky(a, upper=True),
    "determinant": lambda a: jnp.log(jnp.diagonal(jnp.linalg.cholesky(a), axis1=-2, axis2=-1)),
    "matrix": lambda a: solve_triangular(a[0], np.ones((4, 1), np.float32), lower=True),
    "left": lambda b: solve_triangular(np.tril(A[0]), b[0], lower=True),
    "turned": lambda b: solve_triangular(np.tril(A[0]), b[0], lower=True, trans=1),
    "right": lambda b: lax.linalg.triangular_solve(np.triu(A), b, left_side=False),
    "right, turned": lambda b: lax.linalg.triangular_solve(
        np.triu(A), b, left_side=False, transpose_a=True
    ),
    "two diagonals": lambda b: solve_triangular(
        (np.eye(4) + np.diag([1, 0, 1], -1)).astype(np.float32), b[0], lower=True
    ),
    "product": lambda a: jnp.tril(a[0]) @ jnp.tril(a[0]),
    "R of QR": lambda a: jnp.linalg.qr(a[:, :, :3], mode="r"),
    "columns of Q": lambda a: jnp.linalg.qr(a[..., :3])[0],
}


@pytest.mark.parametrize("name", TRIANGLES)
def test_triangles_have_their_own_patterns(name):
    f = TRIANGLES[name]
    there = np.asarray(irax.jacfwd(f)(POSITIVE)).reshape(-1, POSITIVE.size) != 0
    np.testing.assert_array_equal(sparse.sparsity(f)(POSITIVE).todense(), there)


def test_patterns_of_pytrees_and_several_arguments():
    def f(x, y, n):
        return {"a": x["p"] * y, "b": x["q"] ** n}

    x = {"p": np.ones(2, np.float32), "q": np.float32(1)}
    pattern = sparse.sparsity(f, argnums=(0, 1))(x, np.ones(2, np.float32), 2)
    assert pattern.todense().astype(int).tolist() == [
        [1, 0, 0, 1, 0],
        [0, 1, 0, 0, 1],
        [0, 0, 1, 0, 0],
    ]


def test_other_arguments_may_have_any_values():
    """A pattern that is kept holds for the next call, whose arguments are others."""
    x, nothing = np.ones(3, np.float32), np.zeros(3, np.float32)
    factor = np.array([2, 3, 4], np.float32)
    assert sparse.sparsity(lambda x, m: x * m)(x, nothing).nnz == 3
    assert sparse.sparsity(lambda x, m: x * m, local=True)(x, nothing).nnz == 0
    jacobian = sparse.jacobian(lambda x, m: x * m)
    hessian = sparse.hessian(lambda x, *, m: jnp.sum(m * x**2))
    for m in (nothing, factor):
        np.testing.assert_array_equal(jacobian(x, m).todense(), np.diag(m))
        np.testing.assert_array_equal(hessian(x, m=m).todense(), np.diag(2 * m))


def test_patterns_are_in_row_major_order():
    """So are the elements of a Jacobian, whose colors were made for a pattern given by a user."""
    rows, cols = np.array([2, 0, 1, 2, 0]), np.array([0, 1, 1, 2, 1])
    pattern = SparsityPattern(rows, cols, (3, 3))
    assert pattern.nnz == 4
    assert (pattern.rows.tolist(), pattern.cols.tolist()) == ([0, 1, 2, 2], [1, 1, 0, 2])

    def f(x):
        return jnp.stack([3 * x[1], x[1] ** 2, x[0] * x[2]])

    x = np.array([2, 3, 4], np.float32)
    found = sparse.jacobian(f, coloring=sparse.color(pattern))(x)
    np.testing.assert_array_equal(found.todense(), irax.jacobian(f)(x))


def test_patterns_print_as_dots():
    pattern = SparsityPattern.fromdense(np.eye(8))
    assert repr(pattern) == "SparsityPattern(shape=(8, 8), nnz=8)\n⠑⢄⠀⠀\n⠀⠀⠑⢄"
    wide = SparsityPattern(np.arange(1000), np.arange(1000), (1000, 1000))
    assert max(map(len, wide.spy().splitlines())) <= 32
    assert (wide.toscipy() != wide.T.toscipy()).nnz == 0


def cells(picture):
    """The elements that SVG shows: the color of each place."""
    root = ElementTree.fromstring(picture)
    found = {}
    for path in root.iterfind("{*}path"):
        for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path.attrib["d"]):
            for column in range(int(x), int(x) + int(width)):
                found[int(y), column] = path.attrib["fill"]
    return root, found


def test_patterns_draw_themselves():
    matrix = RNG.random((9, 14)) < 0.4
    pattern = SparsityPattern.fromdense(matrix)
    root, found = cells(pattern.spy("svg"))
    assert root.attrib["viewBox"] == "0 0 14 9"
    assert set(found) == set(zip(*map(np.ndarray.tolist, np.nonzero(matrix)), strict=True))
    assert len(set(found.values())) == 1
    large = SparsityPattern(np.arange(1000), np.arange(1000), (1000, 1000))
    assert set(cells(large.spy("svg"))[1]) == {(i, i) for i in range(250)}
    empty = SparsityPattern.fromdense(np.zeros((0, 3)))
    assert not cells(empty.spy("svg"))[1]
    with pytest.raises(ValueError, match="picture='png'; expected 'dots', 'svg'"):
        pattern.spy("png")


@pytest.mark.parametrize("mode", ["fwd", "rev", "bidirectional", "symmetric"])
def test_colorings_draw_which_product_gives_an_element(mode):
    matrix = RNG.random((12, 12)) < 0.2
    pattern = SparsityPattern.fromdense(matrix | matrix.T)
    coloring = sparse.color(pattern, mode)
    _, found = cells(coloring.spy("svg"))
    assert len(found) == pattern.nnz
    assert len(set(found.values())) <= coloring.num_colors
    assert coloring.spy() == pattern.spy()
    groups = {}
    for (row, column), color in found.items():
        groups.setdefault(color, []).append((row, column))
    for places in groups.values():  # of one product, each element is in a place of its own
        lines = [column if coloring.mode == "rev" else row for row, column in places]
        others = [row if coloring.mode == "rev" else column for row, column in places]
        if coloring.mode in ("fwd", "rev"):
            assert len(set(lines)) == len(lines)
            assert len(set(coloring.colors[others])) == 1


# ---- colors ----

ORDERS = ["natural", "largest_first", "smallest_last", "dynamic_largest_first", "auto"]


def groups(coloring: Coloring) -> int:
    """The most columns of one color that share a row."""
    matrix = coloring.pattern.todense()
    if coloring.mode == "rev":
        matrix = matrix.T
    sums = [matrix[:, coloring.colors == c].sum(1).max(initial=0) for c in set(coloring.colors)]
    return max(sums, default=0)


patterns = st.builds(
    lambda seed, m, n, share: SparsityPattern.fromdense(
        np.random.default_rng(seed).random((m, n)) < share
    ),
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 12),
    st.floats(0, 0.6),
)


@settings(max_examples=60, deadline=None)
@given(patterns, st.sampled_from(ORDERS))
def test_colors_tell_all_elements_apart(pattern, order):
    matrix = np.where(pattern.todense(), RNG.uniform(1, 2, pattern.shape), 0)
    for mode in ("fwd", "rev"):
        coloring = sparse.color(pattern, mode, order)
        assert groups(coloring) <= 1
        products = coloring.seeds(float) @ (matrix.T if mode == "fwd" else matrix)
        np.testing.assert_array_equal(products[coloring.places()], matrix[matrix != 0])
    square = pattern.todense()[: min(pattern.shape), : min(pattern.shape)]
    values = RNG.uniform(1, 2, square.shape)
    symmetric = np.where(square | square.T, values + values.T, 0)
    coloring = sparse.color(SparsityPattern.fromdense(symmetric), "symmetric", order)
    products = coloring.seeds(float) @ symmetric
    np.testing.assert_array_equal(products[coloring.places()], symmetric[symmetric != 0])


@settings(max_examples=100, deadline=None)
@given(patterns, st.integers(0, 3), st.integers(0, 3))
def test_colors_of_rows_and_columns_tell_all_elements_apart(pattern, rows, columns):
    there = pattern.todense()
    there[:rows] = there[:, :columns] = True
    pattern = SparsityPattern.fromdense(there)
    matrix = np.where(there, RNG.uniform(1, 2, there.shape), 0)
    coloring = sparse.color(pattern, "bidirectional")
    assert coloring.num_colors <= sparse.color(pattern).num_colors
    seeds, count, width = coloring.seeds(float), coloring.of_columns, there.shape[1]
    if coloring.mode != "bidirectional":
        return
    assert not seeds[:count, width:].any()
    assert not seeds[count:, :width].any()
    across, down = seeds[:count, :width] @ matrix.T, seeds[count:, width:] @ matrix
    colors, places = coloring.places()
    found = [
        across[c, place] if c < count else down[c - count, place]
        for c, place in zip(colors, places, strict=True)
    ]
    np.testing.assert_array_equal(found, matrix[there])


def check_acyclic(pattern, colors):
    """Neighbours differ, and vertices of any two colors form a forest: edges are fewer by trees."""
    matrix = pattern.todense() & ~np.eye(pattern.shape[0], dtype=bool)
    for c in range(colors.max(initial=-1) + 1):
        assert not matrix[np.ix_(colors == c, colors == c)].any()
        for d in range(c):
            chosen = (colors == c) | (colors == d)
            part = matrix[np.ix_(chosen, chosen)]
            count, _ = connected_components(csr_array(part), directed=False)
            assert part.sum() // 2 == chosen.sum() - count


def hessian_of(matrix, dtype, **options):
    """The Hessian of a quadratic function: a symmetric matrix."""
    rows, cols = np.nonzero(matrix)
    values = matrix[rows, cols] / 2

    def f(x):
        return jnp.sum(values * x[rows] * x[cols])

    return sparse.hessian(f, **options)(np.ones(matrix.shape[0], dtype))


@settings(max_examples=60, deadline=None)
@given(patterns, st.sampled_from(ORDERS))
def test_acyclic_colors(pattern, order):
    square = pattern.todense()[: min(pattern.shape), : min(pattern.shape)]
    pattern = SparsityPattern.fromdense(square | square.T)
    scipy = pattern.toscipy()
    orders = [order] if order != "auto" else ORDERS[:-1]
    for name in orders:
        colors = api.color_acyclic(scipy, api.COLUMN_ORDERS[name](scipy))
        check_acyclic(pattern, colors)
        assert api.forest(scipy, colors) is not None
    coloring = sparse.color(pattern, "acyclic", order)
    assert coloring.num_colors <= sparse.color(pattern, "symmetric", order).num_colors


@pytest.mark.slow
def test_hessians_by_acyclic_colors():
    n = 40
    chain = np.eye(n, k=1) * RNG.uniform(1, 2, n)
    matrix = chain + chain.T + np.diag(RNG.uniform(1, 2, n))
    pattern = SparsityPattern.fromdense(matrix)
    assert sparse.color(pattern, "symmetric").num_colors == 3
    assert sparse.color(pattern, "acyclic").num_colors == 2
    tree = np.zeros((n, n))
    tree[np.arange(1, n), RNG.integers(0, np.arange(1, n))] = RNG.uniform(1, 2, n - 1)
    grid = np.kron(np.eye(6, k=1), np.eye(6)) + np.kron(np.eye(6), np.eye(6, k=1))
    with irax.enable_x64():
        for lower in (chain, tree, grid * RNG.uniform(1, 2, grid.shape)):
            full = lower + lower.T + np.diag(RNG.uniform(1, 2, lower.shape[0]))
            scipy = SparsityPattern.fromdense(full).toscipy()
            colors = api.color_acyclic(scipy, api.COLUMN_ORDERS["smallest_last"](scipy))
            coloring = Coloring(SparsityPattern.fromdense(full), "acyclic", colors)
            found = hessian_of(full, np.float64, coloring=coloring).todense()
            np.testing.assert_allclose(found, full, rtol=1e-12, atol=1e-12)
        found = hessian_of(matrix, np.float64, mode="acyclic")
        np.testing.assert_allclose(found.todense(), matrix, rtol=1e-12)
    cycle = SparsityPattern.fromdense(np.roll(np.eye(4), 1, 0) + np.roll(np.eye(4), -1, 0))
    for colors in ([0, 1, 0, 1], [0, 0, 1, 1]):
        with pytest.raises(ValueError, match="form a cycle"):
            Coloring(cycle, "acyclic", np.array(colors)).places()


@given(patterns)
def test_dynamic_orders_take_the_largest_or_leave_the_smallest(pattern):
    matrix = pattern.todense().astype(int)
    shared = (matrix.T @ matrix > 0) & ~np.eye(matrix.shape[1], dtype=bool)
    scipy = pattern.toscipy()
    after = api.COLUMN_ORDERS["dynamic_largest_first"](scipy)
    before = api.COLUMN_ORDERS["smallest_last"](scipy)[::-1]
    for order, best in ((after, np.max), (before, np.min)):
        assert sorted(order) == list(range(matrix.shape[1]))
        for i, column in enumerate(order):
            degrees = shared[np.ix_(order[i:], order[i:])].sum(0)
            assert shared[column, order[i:]].sum() == best(degrees)


def test_few_colors_do():
    banded = SparsityPattern.fromdense(abs(np.subtract.outer(np.arange(50), np.arange(50))) <= 2)
    assert sparse.color(banded, "fwd").num_colors == 5
    assert sparse.color(banded, "symmetric").num_colors == 5
    arrow = np.eye(30)
    arrow[0] = arrow[:, 0] = 1
    assert sparse.color(SparsityPattern.fromdense(arrow), "fwd").num_colors == 30
    assert sparse.color(SparsityPattern.fromdense(arrow)).mode == "bidirectional"
    assert sparse.color(SparsityPattern.fromdense(arrow), "symmetric").num_colors == 2
    both = sparse.color(SparsityPattern.fromdense(arrow), "bidirectional")
    assert (both.mode, both.num_colors) == ("bidirectional", 3)
    assert sparse.color(SparsityPattern.fromdense(arrow[:, 1:]), "bidirectional").num_colors == 2
    assert sparse.color(banded, "bidirectional").num_colors == 5
    blocks = np.kron(np.eye(6), np.ones((1, 5)))  # one color of rows, but for a long column
    blocks[:, 0] = 1
    both = sparse.color(SparsityPattern.fromdense(blocks), "bidirectional")
    assert (both.num_colors, both.of_columns) == (2, 1)
    row = np.ones((1, 30))
    coloring = sparse.color(SparsityPattern.fromdense(row))
    assert (coloring.mode, coloring.num_colors) == ("rev", 1)


@pytest.mark.parametrize(
    "size, share",
    [(40, 0.1), pytest.param(60, 0.02, marks=pytest.mark.slow), (45, 0.9)],
)
def test_programs_give_the_same_colors(monkeypatch, size, share):
    """A program has 32 colors; where there are more, Python does it again."""
    matrix = RNG.random((size, size)) < share
    pattern = SparsityPattern.fromdense(matrix | matrix.T).toscipy()
    monkeypatch.setattr(compiled_colors, "_LARGE", 0)
    ours = compiled_colors.ALGORITHMS
    for order in (np.arange(size), RNG.permutation(size)):
        for assign, other in ((ours.columns, api.color_columns), (ours.stars, api.color_stars)):
            found = assign(pattern, order)
            np.testing.assert_array_equal(found, other(pattern, order))
    wide = SparsityPattern.fromdense(matrix[: size // 2])
    assert groups(sparse.color(wide, "fwd")) <= 1


@pytest.mark.slow
def test_large_patterns_are_colored_while_a_function_is_traced(monkeypatch):
    monkeypatch.setattr(compiled_colors, "_LARGE", 0)
    u = RNG.normal(size=(3, 3)).astype(np.float32)
    found = irax.jit(lambda u: sparse.jacobian(bratu)(u).todense())(u)
    np.testing.assert_allclose(found, dense(irax.jacfwd(bratu)(u), 9), rtol=1e-6)


# ---- derivatives ----


@pytest.mark.parametrize("mode", ["auto", "fwd", "rev"])
def test_jacobians_are_the_dense_ones(mode):
    u = RNG.normal(size=(4, 5)).astype(np.float32)
    expected = dense(irax.jacfwd(bratu)(u), u.size)
    value, found = sparse.value_and_jacobian(bratu, mode=mode)(u)
    np.testing.assert_allclose(found.todense(), expected, rtol=1e-5)
    np.testing.assert_allclose(value, bratu(jnp.asarray(u)), rtol=1e-5, atol=1e-6)
    assert found.nse == 20 + 2 * (4 * 4 + 3 * 5)


def test_jacobians_by_rows_and_columns():
    def f(x):
        total = jnp.sum(x["a"] ** 2) * x["b"]
        return {"chain": x["a"] * x["b"], "total": total, "last": jnp.sin(x["a"])[::-1]}

    x = {"a": RNG.normal(size=9).astype(np.float32), "b": np.float32(2)}
    for mode in ("auto", "fwd"):
        value, found = sparse.value_and_jacobian(f, mode=mode)(x)
        dense_one = irax.jacrev(f)(x)
        expected = np.concatenate(
            [
                np.concatenate(
                    [
                        np.asarray(dense_one[k]["a"]).reshape(-1, 9),
                        np.asarray(dense_one[k]["b"]).reshape(-1, 1),
                    ],
                    1,
                )
                for k in ("chain", "last", "total")
            ]
        )
        np.testing.assert_allclose(found.todense(), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(value["total"], np.sum(x["a"] ** 2) * 2, rtol=1e-5)
    pattern = sparse.sparsity(f)(x)
    assert sparse.color(pattern, "fwd").num_colors == 10
    assert sparse.color(pattern, "bidirectional").num_colors == 3
    jacobian = sparse.jacobian(f, mode="bidirectional")
    many = {"a": RNG.normal(size=(2, 9)).astype(np.float32), "b": np.ones(2, np.float32)}
    lanes = irax.vmap(lambda x: jacobian(x).todense())(many)
    first = jacobian({"a": many["a"][0], "b": many["b"][0]}).todense()
    np.testing.assert_allclose(lanes[0], first, rtol=1e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", ["auto", "fwd", "rev", "bidirectional"])
def test_jacobians_without_elements(mode):
    x, nothing = np.ones(3, np.float32), np.zeros(0, np.float32)
    for f, argument, shape in (
        (lambda x: x[:0], x, (0, 3)),
        (lambda x: jnp.ones(2) + jnp.sum(x), nothing, (2, 0)),
        (lambda x: x * 2, nothing, (0, 0)),
        (lambda x: jnp.ones(2), x, (2, 3)),
    ):
        found = sparse.jacobian(f, mode=mode)(argument)
        assert (found.shape, found.nse) == (shape, 0)
    one_sided = Coloring(SparsityPattern.fromdense(np.eye(3)), "bidirectional", np.zeros(6, int))
    one_sided.colors[3:] = -1
    found = sparse.jacobian(lambda x: x**2, coloring=one_sided)(x)
    np.testing.assert_array_equal(found.todense(), 2 * np.eye(3))


def layer(x, rate):
    """A convolution's waves, their signs, and their sum."""
    kernel = np.array([[[0.5, -1]], [[2, 0.25]], [[-0.75, 1.5]]], np.float32)
    dims = ("NWC", "WIO", "NWC")
    y = lax.conv_general_dilated(x.reshape(1, -1, 1), kernel, (1,), "SAME", dimension_numbers=dims)
    return {"signs": (y > 0).astype(jnp.int32), "waves": jnp.sin(rate * y)}, y.sum()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["fwd", "rev", "bidirectional"])
def test_colors_of_convolutions_one_by_one(monkeypatch, mode):
    monkeypatch.setattr(products, "TOGETHER", 0)
    x = jnp.linspace(-1, 1, 12)
    found, total = sparse.jacobian(layer, mode=mode, format="dense", has_aux=True)(x, 2.0)
    waves = irax.jacfwd(lambda x: layer(x, 2.0)[0]["waves"])(x)
    np.testing.assert_allclose(found[24:], dense(waves, 24), rtol=1e-5, atol=1e-6)
    assert not np.asarray(found[:24]).any()
    np.testing.assert_allclose(total, layer(x, 2.0)[1], rtol=1e-5)


def test_directions_that_are_compared_in_the_program(monkeypatch):
    """Directions of large arguments are found from the colors by the program."""
    x = np.linspace(0.5, 1, 12, dtype=np.float32)

    def around(a, b):
        return a[1:] * a[:-1] + irax.numpy.sin(b), a.astype("float16")

    def elements():
        return sparse.jacobian(around, (0, 1))(x, x[1:]).data

    known = elements()
    monkeypatch.setattr(products, "KNOWN", 0)
    np.testing.assert_array_equal(elements(), known)
    dense = sparse.jacobian(around, (0, 1), format="dense")(x, x[1:])
    np.testing.assert_allclose(dense[:11, 12:], np.diag(np.cos(x[1:])), rtol=1e-6)
    np.testing.assert_array_equal(dense[11:, :12], np.eye(12))


def test_products_in_hessians_one_by_one(monkeypatch):
    monkeypatch.setattr(products, "TOGETHER", 0)
    x, band = jnp.linspace(-1, 1, 6), np.triu(np.tri(6, k=1, dtype=np.float32))
    found = sparse.hessian(lambda x: jnp.sum((band @ x) ** 4), format="dense")(x)
    expected = band.T @ np.diag(12 * (band @ np.asarray(x)) ** 2) @ band
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_loop_of_unknown_length_pushes_colors_together(monkeypatch):
    monkeypatch.setattr(products, "TOGETHER", 0)

    def f(x):
        band = jnp.eye(4) + jnp.eye(4, k=1)
        return lax.while_loop(lambda y: y[0] < 8, lambda y: band @ (2 * y), x)

    x = jnp.ones(4)
    found = sparse.jacobian(f, format="dense")(x)
    np.testing.assert_allclose(found, irax.jacfwd(f)(x), rtol=1e-6)


def test_formats_have_the_same_elements():
    u = RNG.normal(size=(3, 3)).astype(np.float32)
    expected = np.asarray(sparse.jacobian(bratu, format="dense")(u))
    for format in ("bcoo", "bcsr", "scipy"):
        found = sparse.jacobian(bratu, format=format)(u).todense()
        np.testing.assert_array_equal(np.asarray(found), expected)
    of_scipy = sparse.jacobian(bratu, format="scipy")
    changed = of_scipy(u)
    changed.data[:] = changed.indices[:] = changed.indptr[:] = 0
    np.testing.assert_array_equal(of_scipy(u).todense(), expected)


def test_hessians_are_the_dense_ones():
    x = RNG.normal(size=12).astype(np.float32)
    found = sparse.hessian(rosenbrock)(x)
    np.testing.assert_allclose(found.todense(), irax.hessian(rosenbrock)(x), rtol=1e-4, atol=1e-3)
    assert found.nse == 12 + 2 * 11


def test_gradients_and_values_beside_hessians():
    x = {"p": RNG.normal(size=12).astype(np.float32), "q": np.float32(2)}

    def f(x, scale):
        return rosenbrock(x["p"]) * x["q"] + scale**3

    expected = sparse.hessian(f)(x, 1.5)
    value, found = sparse.value_and_hessian(f)(x, 1.5)
    np.testing.assert_array_equal(found.todense(), expected.todense())
    np.testing.assert_allclose(value, f(x, 1.5), rtol=1e-5)
    slope, found = sparse.grad_and_hessian(f, format="scipy")(x, 1.5)
    np.testing.assert_array_equal(found.todense(), expected.todense())
    for name, part in irax.grad(f)(x, 1.5).items():
        np.testing.assert_allclose(slope[name], part, rtol=1e-4)
    (first, second), found = irax.jit(sparse.grad_and_hessian(f, argnums=(0, 1)))(x, 1.5)
    assert found.shape == (14, 14)
    np.testing.assert_allclose(second, 3 * 1.5**2)
    np.testing.assert_allclose(first["q"], rosenbrock(x["p"]), rtol=1e-5)


def test_jacobians_of_pytrees():
    def f(x, scale):
        return {"a": x["p"][::-1] * x["q"], "b": jnp.sin(x["p"]) * scale}

    x = {"p": RNG.normal(size=3).astype(np.float32), "q": np.float32(2)}
    found = sparse.jacobian(f)(x, 3.0).todense()
    p = np.asarray(x["p"])
    expected = np.zeros((6, 4), np.float32)
    expected[[0, 1, 2], [2, 1, 0]] = 2
    expected[:3, 3] = p[::-1]
    expected[[3, 4, 5], [0, 1, 2]] = 3 * np.cos(p)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_functions_with_rules_of_their_own():
    order = np.array([2, 0, 3, 1])

    @irax.custom_vjp
    def reordered(x):
        return x[order] ** 2

    def bwd(x, ct):
        return (jnp.zeros(4).at[order].add(2 * x[order] * ct),)

    reordered.defvjp(lambda x: (reordered(x), x), bwd)

    @irax.custom_jvp
    def turned(x):
        return x[::-1] ** 2

    turned.defjvp(lambda x, t: (turned(*x), 2 * x[0][::-1] * t[0][::-1]))
    x = np.array([1, 2, 3, 4], np.float32)
    for f, places in ((reordered, order), (turned, np.arange(4)[::-1])):
        expected = np.zeros((4, 4))
        expected[np.arange(4), places] = 2 * x[places]
        np.testing.assert_array_equal(sparse.sparsity(f)(x).todense(), expected != 0)
        found = sparse.jacobian(f)(x)  # of reordered, by rows: it has no forward mode
        np.testing.assert_array_equal(found.todense(), expected)
        pair = sparse.sparsity(lambda x, f=f: f(f(x)) + f(jnp.ones(4)))(x)
        np.testing.assert_array_equal(pair.todense(), (expected != 0) @ (expected != 0))

        def total(x, f=f):
            return jnp.sum(f(x) * x)

        found = sparse.hessian(total)(x).todense()
        plain = [lambda x: x[order] ** 2, lambda x: x[::-1] ** 2][f is turned]
        dense_one = irax.hessian(lambda x, g=plain: jnp.sum(g(x) * x))(x)
        np.testing.assert_allclose(found, dense_one, rtol=1e-6)
    with pytest.raises(NotImplementedError, match="no forward mode"):
        sparse.jacobian(reordered, mode="fwd")(x)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["auto", "fwd", "rev", "bidirectional"])
def test_results_without_a_derivative_have_empty_rows(mode):
    def f(x):
        return jnp.argmax(x), x[0] * x[1:], x > 0, jnp.sum(x**2)

    x = np.arange(1, 5, dtype=np.float32)
    value, found = sparse.value_and_jacobian(f, mode=mode)(x)
    expected = np.zeros((1 + 3 + 4 + 1, 4))
    expected[1:4, 0], expected[[1, 2, 3], [1, 2, 3]], expected[8] = x[1:], x[0], 2 * x
    np.testing.assert_array_equal(found.todense(), expected)
    assert (int(value[0]), value[2].dtype) == (3, np.bool_)
    assert sparse.jacobian(lambda x: (), mode=mode)(x).shape == (0, 4)


def test_complex_results_take_forward_mode():
    x = np.arange(1, 5, dtype=np.float32)

    def f(x):
        return jnp.sum(x * (1 + 2j))[None]

    assert sparse.color(sparse.sparsity(f)(x)).mode == "rev"
    np.testing.assert_array_equal(sparse.jacobian(f)(x).todense(), [[1 + 2j] * 4])
    with pytest.raises(NotImplementedError, match=r"a result is complex.* use mode='fwd'"):
        sparse.jacobian(f, mode="rev")(x)


def test_a_loop_of_unknown_length_has_forward_mode_alone():
    def f(x):
        y = irax.lax.while_loop(lambda y: jnp.sum(y) < 100, lambda y: 1.5 * y, x)
        return jnp.sum(y)[None]

    x = np.ones(3, np.float32)
    assert sparse.color(sparse.sparsity(f)(x)).mode == "rev"
    np.testing.assert_allclose(sparse.jacobian(f)(x).todense(), [[1.5**9] * 3], rtol=1e-6)
    with pytest.raises(NotImplementedError, match="no reverse mode"):
        sparse.jacobian(f, mode="rev")(x)


def test_sparse_derivatives_inside_of_transformations():
    u = RNG.normal(size=(3, 3)).astype(np.float32)
    jacobian = sparse.jacobian(bratu)

    def total(u):
        return jnp.sum(jacobian(u).data ** 2)

    np.testing.assert_allclose(irax.jit(total)(u), total(u), rtol=1e-6)

    def plain(u):
        return jnp.sum(irax.jacfwd(bratu)(u) ** 2)

    np.testing.assert_allclose(irax.grad(total)(u), irax.grad(plain)(u), rtol=1e-5, atol=1e-5)
    many = RNG.normal(size=(2, 3, 3)).astype(np.float32)
    found = irax.vmap(lambda u: jacobian(u).todense())(many)
    np.testing.assert_allclose(found[1], jacobian(many[1]).todense(), rtol=1e-6)


def test_what_is_beside_a_result_is_returned_with_it():
    x = np.array([1.0, 2.0, 3.0], np.float32)

    def f(x):
        return x[1:] * x[:-1], {"sum": jnp.sum(x)}

    def total(x):
        return jnp.sum(x**3), x[0]

    expected = np.asarray(irax.jacfwd(lambda x: f(x)[0])(x))
    assert sparse.sparsity(f, has_aux=True)(x).nnz == 4
    for mode in ("fwd", "rev"):
        matrix, aux = sparse.jacobian(f, has_aux=True, mode=mode, format="dense")(x)
        np.testing.assert_array_equal(matrix, expected)
        assert aux["sum"] == 6
    (value, aux), matrix = sparse.value_and_jacobian(f, has_aux=True)(x)
    np.testing.assert_array_equal(value, [2, 6])
    assert aux["sum"] == 6
    assert matrix.nse == 4
    assert sparse.hessian_sparsity(total, has_aux=True)(x).nnz == 3
    matrix, aux = sparse.hessian(total, has_aux=True)(x)
    np.testing.assert_array_equal(matrix.data, 6 * x)
    (value, aux), matrix = sparse.value_and_hessian(total, has_aux=True)(x)
    assert (value, aux) == (36, 1)
    (slopes, aux), matrix = sparse.grad_and_hessian(total, has_aux=True)(x)
    np.testing.assert_array_equal(slopes, 3 * x**2)
    assert aux == 1


def test_holomorphic_functions_have_complex_elements():
    z = (RNG.normal(size=4) + 1j * RNG.normal(size=4)).astype(np.complex64)

    def f(z):
        return z[1:] * jnp.exp(z[:-1])

    expected = irax.jacfwd(f, holomorphic=True)(z)
    for mode in ("fwd", "rev"):
        found = sparse.jacobian(f, holomorphic=True, mode=mode, format="dense")(z)
        np.testing.assert_allclose(found, expected, rtol=1e-5)

    def total(z):
        return jnp.sum(z[1:] * z[:-1] ** 2)

    found = sparse.hessian(total, holomorphic=True)(z)
    expected = irax.hessian(total, holomorphic=True)(z)
    np.testing.assert_allclose(found.todense(), expected, rtol=1e-5, atol=1e-6)
    pattern = sparse.hessian_sparsity(total, holomorphic=True)(z)
    assert pattern.nnz == found.nse == 3 + 6
    assert sparse.sparsity(lambda z: jnp.abs(z) + z.real)(z).nnz == 4


def test_patterns_of_shapes_alone():
    x = irax.ShapeDtypeStruct((4,), np.float32)
    assert sparse.sparsity(lambda d: d["x"] * d["x"][::-1])({"x": x}).nnz == 8
    assert sparse.hessian_sparsity(lambda x, y: jnp.sum(x * y), (0, 1))(x, x).nnz == 8
    with pytest.raises(TypeError, match=r"x: expected an array .* ShapeDtypeStruct"):
        sparse.sparsity(jnp.sin, local=True)(x)


def test_arguments_that_are_no_arrays():
    x = np.ones(3, np.float32)

    def f(x, how, *, scale):
        return scale["by"] * x**2 if how == "square" else x

    jacobian = sparse.jacobian(f)
    np.testing.assert_array_equal(jacobian(x, "square", scale={"by": 2.0}).data, 4 * x)
    np.testing.assert_array_equal(jacobian(x, "same", scale={"by": 2.0}).data, x)
    assert sparse.sparsity(f)(x, "square", scale={"by": 2.0}).nnz == 3
    with pytest.raises(TypeError, match="set, which is no array, and cannot be hashed; bind it"):
        jacobian(x, {1}, scale={"by": 2.0})


def test_a_pattern_is_found_once_for_each_shape(monkeypatch):
    found = []
    original = derivatives.pattern_of
    monkeypatch.setattr(
        derivatives, "pattern_of", lambda *args: found.append(args) or original(*args)
    )
    jacobian = sparse.jacobian(bratu)
    for _ in range(2):
        jacobian(np.ones((2, 2), np.float32))
        jacobian(np.ones((2, 3), np.float32))
    assert len(found) == 2


def test_colors_can_be_given():
    u = np.zeros((2, 3), np.float32)
    coloring = sparse.color(sparse.sparsity(bratu)(u), "rev")
    found = sparse.jacobian(bratu, coloring=coloring)(u).todense()
    np.testing.assert_array_equal(found, sparse.jacobian(bratu)(u).todense())
    with pytest.raises(ValueError, match=r"shape \(6, 6\), and the arguments have 4 elements"):
        sparse.jacobian(bratu, coloring=coloring)(np.zeros((2, 2), np.float32))
    for mode in ("fwd", "rev"):
        other = sparse.color(sparse.sparsity(bratu)(u), mode)
        with pytest.raises(ValueError, match=r"of 6 rows, and the results .* have 2 elements"):
            sparse.jacobian(lambda u: u[:, 0], coloring=other)(u)
    same = Coloring(coloring.pattern, "fwd", np.zeros(6, np.int64))
    with pytest.raises(ValueError, match=r"do not tell element \(0, 0\) from others of its row"):
        same.places()


@pytest.mark.parametrize(
    "mode, colors, match",
    [
        ("both", [0] * 4, "mode='both'; expected 'fwd', 'rev', 'bidirectional'"),
        ("fwd", [0, 1, 0], "expected 4 integers"),
        ("rev", [0] * 4, "expected 3 integers"),
        ("bidirectional", [0] * 4, "expected 7 integers"),
        ("fwd", [0.0, 1.0, 0.0, 1.0], "colors is float64"),
    ],
)
def test_colors_that_do_not_fit_the_pattern(mode, colors, match):
    pattern = SparsityPattern.fromdense(np.eye(3, 4) + np.eye(3, 4, 1))
    with pytest.raises(ValueError, match=match):
        Coloring(pattern, mode, colors)
    assert Coloring(pattern, "fwd", [0, 1, 0, 1]).num_colors == 2


# ---- mutable arrays ----


def test_another_call_finds_other_numbers_in_a_ref():
    ref = irax.new_ref(jnp.zeros(3))
    scale = irax.new_ref(jnp.zeros(()))
    x = np.arange(1, 4, dtype=np.float32)
    jacobian = sparse.jacobian(lambda x: ref[...] * 2 * x)
    hessian = sparse.hessian(lambda x: scale[...] * jnp.sum(x**2))
    np.testing.assert_array_equal(jacobian(x).todense(), np.zeros((3, 3)))
    np.testing.assert_array_equal(hessian(x).todense(), np.zeros((3, 3)))
    ref[...], scale[...] = jnp.ones(3), 1.0
    np.testing.assert_array_equal(jacobian(x).todense(), 2 * np.eye(3))
    np.testing.assert_array_equal(hessian(x).todense(), 2 * np.eye(3))


def test_refs_are_known_at_a_point():
    ref = irax.new_ref(jnp.array([0.0, 1.0]))
    f = lambda x: ref[...] * x
    x = np.ones(2, np.float32)
    assert sparse.sparsity(f)(x).nnz == 2
    assert sparse.sparsity(f, local=True)(x).nnz == 1


# ---- what is refused ----


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda: sparse.jacobian(3), TypeError, "jacobian"),
        (lambda: sparse.sparsity(jnp.sin)(1), TypeError, "float"),
        (lambda: sparse.jacobian(jnp.sin, mode="up"), ValueError, "mode='up'; expected 'auto'"),
        (
            lambda: sparse.hessian(jnp.sin, mode="fwd"),
            ValueError,
            "expected 'symmetric', 'acyclic'",
        ),
        (lambda: sparse.jacobian(jnp.sin, format="csc"), ValueError, "format='csc'; expected"),
        (lambda: sparse.hessian(jnp.sin)(np.ones(2, np.float32)), TypeError, "scalar"),
        (
            lambda: sparse.color(SparsityPattern.fromdense([[1, 1], [0, 1]]), "symmetric"),
            ValueError,
            "not symmetric",
        ),
        (lambda: sparse.color(SparsityPattern.fromdense([[1]]), order="x"), ValueError, "order="),
        (
            lambda: SparsityPattern([0], [3], (2, 3)),
            ValueError,
            "cols are from 3 to 3; expected 0 to",
        ),
        (lambda: SparsityPattern([0, 1], [2], (2, 3)), ValueError, "2 elements and cols 1"),
        (lambda: SparsityPattern([0.5], [2], (2, 3)), TypeError, "rows is float64"),
        (lambda: sparse.color(np.eye(3)), TypeError, "pattern is a ndarray; expected a Sparsity"),
        (lambda: sparse.jacobian(jnp.sin, coloring=3), TypeError, "coloring is a int; expected a"),
        (lambda: SparsityPattern.fromdense([1]), ValueError, r"shape \(1,\); expected two"),
        (
            lambda: sparse.jacobian(jnp.sin)(np.ones(2, np.complex64)),
            TypeError,
            r"x has type complex64\[2\]; .* or holomorphic=True",
        ),
        (
            lambda: sparse.jacobian(jnp.sin, has_aux=True)(np.ones(2, np.float32)),
            TypeError,
            r"with has_aux=True, sin must return a pair",
        ),
        (
            lambda: irax.jit(sparse.jacobian(jnp.sin, format="scipy"))(np.ones(2, np.float32)),
            TypeError,
            "format='scipy' makes .* use format='bcoo' inside of jit",
        ),
    ],
)
def test_wrong_arguments_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call()
