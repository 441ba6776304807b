"""Products summed over axes, and norms, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run, tolerance

import irax
import irax.numpy as jnp
from irax.test_util import check_grads


def compare(results, expected, extra=4.0):
    (result,) = results
    assert result.shape == expected.shape
    allowed = {name: extra * value for name, value in tolerance(result.dtype).items()}
    np.testing.assert_allclose(result.astype(np.float64), expected, **allowed)


def check(name, shapes, *args, **options):
    arrays = [numbers(shape, seed=i) for i, shape in enumerate(shapes)]
    results = run(lambda *v: getattr(jnp, name)(*v, *args, **options), *arrays)
    wide = [x.astype(np.float64) for x in arrays]
    compare(results, np.asarray(getattr(np, name)(*wide, *args, **options)))


SHAPES = {
    "dot": [((), ()), ((3,), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4))]
    + [((5, 2, 3), (6, 3, 4)), ((2, 0), (0, 3)), ((0, 3), (3, 2))],
    "matmul": [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 0), (0, 3))]
    + [((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4))]
    + [((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((1, 2, 3), (1, 3, 4))],
    "inner": [((), (3,)), ((3,), (3,)), ((2, 3), (4, 3)), ((2, 5, 3), (4, 3))],
    "outer": [((3,), (4,)), ((2, 3), (4,)), ((), (2,))],
    "vdot": [((3,), (3,)), ((2, 3), (3, 2))],
    "kron": [((2, 3), (4, 5)), ((3,), (2,)), ((3,), (2, 2)), ((2, 1, 2), (3, 2))],
    "vecdot": [((3,), (3,)), ((2, 3), (3,)), ((4, 1, 3), (2, 3))],
    "matvec": [((2, 3), (3,)), ((5, 2, 3), (5, 3))],
    "vecmat": [((3,), (3, 2)), ((5, 3), (3, 2))],
    "cross": [((3,), (3,)), ((2, 3), (3,)), ((4, 1, 3), (2, 3))],
    "trace": [((3, 4),), ((2, 3, 4),)],
}
NEWER_THAN_NUMPY_2_1 = {"matvec", "vecmat"}


@pytest.mark.parametrize("name", SHAPES)
def test_against_numpy(name):
    if name in NEWER_THAN_NUMPY_2_1 and not hasattr(np, name):
        pytest.skip(f"this NumPy has no {name}")
    for shapes in SHAPES[name]:
        check(name, shapes)


def test_options():
    check("trace", [(3, 4, 2)], 1, 2, 0)
    check("cross", [(3, 2), (3, 2)], axis=0)
    check("vecdot", [(3, 2), (3, 2)], axis=0)
    x, y = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    with pytest.warns(DeprecationWarning, match="vectors of length 2"):
        assert float(jnp.cross(x, y)[0]) == -2


def test_tensordot():
    for shapes, axes in [
        (((2, 3, 4), (3, 4, 5)), 2),
        (((2, 3), (4, 5)), 0),
        (((2, 3, 4), (4, 5)), 1),
        (((2, 3, 4), (4, 2, 5)), ([0, 2], [1, 0])),
        (((2, 3), (5, 3)), (1, -1)),
        (((2, 3), (2, 3)), ((0, 1), (0, 1))),
    ]:
        check("tensordot", shapes, axes)


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ij,ij", (2, 3), (2, 3)),
    ("i,j->ij", (2,), (3,)),
    ("i,j->ji", (2,), (3,)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iii->i", (3, 3, 3)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ba", (2, 3)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bij,bkj->bki", (5, 2, 3), (5, 4, 3)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...ij,...jk", (5, 1, 2, 3), (6, 3, 4)),
    ("i...->...", (3, 2, 4)),
    ("...i->i...", (3, 2, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 5), (5, 2)),
    ("i,i,i->i", (3,), (3,), (3,)),
    ("i,i,i->", (3,), (3,), (3,)),
    ("ij,k->", (2, 3), (4,)),
    ("ijk,k,j->i", (2, 3, 4), (4,), (3,)),
    ("ij,ij->ij", (2, 1), (2, 3)),
    (" i j , j -> i ", (2, 3), (3,)),
    (",->", (), ()),
    ("i,->i", (3,), ()),
    ("ij,jk->ik", (2, 0), (0, 3)),
]


@pytest.mark.parametrize("subscripts, shapes", [(s, shapes) for s, *shapes in EINSUMS])
def test_einsum(subscripts, shapes):
    arrays = [numbers(shape, seed=i) for i, shape in enumerate(shapes)]
    expected = np.asarray(np.einsum(subscripts, *(x.astype(np.float64) for x in arrays)))
    for optimize in ("auto", False):
        results = run(lambda *v, o=optimize: jnp.einsum(subscripts, *v, optimize=o), *arrays)
        compare(results, expected, extra=10)


def test_einsum_by_lists():
    x, y = numbers((2, 3)), numbers((3, 4))
    compare(run(lambda x, y: jnp.einsum(x, [0, 1], y, [1, 2], [0, 2]), x, y), x.astype(float) @ y)
    compare(run(lambda x: jnp.einsum(x, [0, 0]), numbers((3, 3))), np.trace(numbers((3, 3))))


def test_einsum_of_two_is_one_dot_general():
    text = str(
        irax.make_ir(lambda x, y: jnp.einsum("bqd,bkd->bqk", x, y))(*[np.ones((2, 3, 4))] * 2)
    )
    assert text.count("stablehlo.dot_general") == 1
    assert "transpose" not in text


def test_chains_are_multiplied_in_the_cheapest_order():
    shapes = (2, 100), (100, 100), (100, 3)
    arrays = [numbers(s, low=-1, high=1, seed=i) for i, s in enumerate(shapes)]
    expected = np.linalg.multi_dot([x.astype(np.float64) for x in arrays])
    compare(run(lambda *v: jnp.linalg.multi_dot(v), *arrays), expected, extra=100)
    text = str(irax.make_ir(lambda *v: jnp.linalg.multi_dot(v))(*arrays))
    assert "tensor<100x3xf32>, tensor<100x3xf32>" not in text
    assert "-> tensor<2x100xf32>" in text


def test_matmul_broadcasts_no_operand():
    text = str(irax.make_ir(jnp.matmul)(np.ones((5, 2, 3)), np.ones((3, 4))))
    assert "broadcast_in_dim" not in text
    assert text.count("stablehlo.dot_general") == 1


def test_dtypes():
    x, y = numbers((2, 3), "int32"), numbers((3, 2), "int8")
    assert run(jnp.dot, x, y)[0].dtype == np.int32
    np.testing.assert_array_equal(jnp.dot(x, y), x @ y)
    mask = numbers((3, 3), "bool")
    np.testing.assert_array_equal(run(jnp.matmul, mask, mask)[0], mask @ mask)
    half = numbers((3, 3), ml_dtypes.bfloat16)
    (result,) = run(lambda x: jnp.dot(x, x, preferred_element_type="float32"), half)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, half.astype(np.float32) @ half.astype(np.float32), rtol=1e-5)


def test_precision_reaches_the_ir():
    text = str(irax.make_ir(lambda x: jnp.dot(x, x, precision="highest"))(np.ones((2, 2))))
    assert "precision = [HIGHEST, HIGHEST]" in text
    pair = (irax.lax.Precision.DEFAULT, "high")
    text = str(irax.make_ir(lambda x: jnp.matmul(x, x, precision=pair))(np.ones((2, 2))))
    assert "precision = [DEFAULT, HIGH]" in text


NORMS = [
    ((4,), {}),
    ((2, 3), {}),
    ((2, 3, 4), {}),
    *(((4,), {"ord": p}) for p in (0, 1, 2, 3, -1, 0.5, np.inf, -np.inf)),
    *(((3, 4), {"ord": p}) for p in ("fro", 1, -1, np.inf, -np.inf)),
    ((2, 3, 4), {"axis": 1}),
    ((2, 3, 4), {"axis": (0, 2), "keepdims": True}),
    ((2, 3, 4), {"axis": (2, 0), "ord": 1}),
    ((2, 3), {"axis": -1, "ord": 1, "keepdims": True}),
]


@pytest.mark.parametrize("shape, options", NORMS)
def test_norm(shape, options):
    x = numbers(shape)
    expected = np.asarray(np.linalg.norm(x.astype(np.float64), **options))
    compare(run(lambda x: jnp.linalg.norm(x, **options), x), expected)


def test_other_functions_of_linalg():
    x = numbers((2, 3, 3))
    wide = x.astype(np.float64)
    compare(run(jnp.linalg.vector_norm, x), np.linalg.vector_norm(wide))
    compare(run(jnp.linalg.matrix_norm, x), np.linalg.matrix_norm(wide))
    for n in (0, 1, 2, 5):
        expected = np.linalg.matrix_power(wide, n)
        compare(run(lambda x, n=n: jnp.linalg.matrix_power(x, n), x), expected, extra=10**n)


@pytest.mark.parametrize(
    "function, shapes",
    [
        (jnp.dot, [(2, 3), (3, 2)]),
        (jnp.matmul, [(2, 1, 2, 3), (4, 3, 2)]),
        (lambda x, y: jnp.einsum("ij,jk,ik->k", x, y, x @ y), [(2, 3), (3, 2)]),
        (lambda x, y: jnp.kron(x, y), [(2, 2), (1, 2)]),
        (lambda x, y: jnp.cross(x, y), [(3,), (2, 3)]),
        (lambda x: jnp.linalg.norm(x, axis=1), [(3, 4)]),
        (lambda x: jnp.linalg.norm(x, 3), [(4,)]),
        (lambda x: jnp.trace(x) + jnp.diagonal(x, 1).sum() ** 2, [(3, 3)]),
    ],
)
def test_derivatives(function, shapes):
    with irax.enable_x64(True):
        arrays = [jnp.asarray(numbers(s, "float64", seed=i)) for i, s in enumerate(shapes)]
        check_grads(function, arrays, order=2)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: jnp.dot(jnp.ones((3, 4)), jnp.ones(5)),
            TypeError,
            r"dot: shapes \(3, 4\) and \(5,\) do not fit: the last axis of the first \(4\)",
        ),
        (lambda: jnp.matmul(jnp.ones((3, 4)), jnp.ones(5)), TypeError, r"matmul: shapes \(3, 4\)"),
        (lambda: jnp.matmul(1.0, jnp.ones(5)), ValueError, "at least 1 dimension"),
        (
            lambda: jnp.matmul(jnp.ones((2, 3, 4)), jnp.ones((5, 4, 3))),
            ValueError,
            r"matmul: shapes \(2, 3, 4\) and \(5, 4, 3\)",
        ),
        (lambda: jnp.inner(jnp.ones(2), jnp.ones(3)), TypeError, "inner: shapes"),
        (lambda: jnp.tensordot(jnp.ones((2, 3)), jnp.ones((2, 3)), 1), TypeError, "tensordot"),
        (lambda: jnp.tensordot(jnp.ones(2), jnp.ones(2), 3), TypeError, "axes=3"),
        (lambda: jnp.einsum("ij->ji", jnp.ones(3)), ValueError, "'ij' does not fit"),
        (lambda: jnp.einsum("ij,jk", jnp.ones((2, 2))), ValueError, "for 2 operands, got 1"),
        (lambda: jnp.einsum("i,i", jnp.ones(2), jnp.ones(3)), ValueError, "sizes 2 and 3"),
        (lambda: jnp.einsum("i->j", jnp.ones(2)), ValueError, "letters must be among"),
        (lambda: jnp.einsum("ii", jnp.ones((2, 3))), ValueError, "different sizes"),
        (lambda: jnp.dot([1.0], [2.0]), TypeError, "dot: a: "),
        (lambda: jnp.dot(jnp.ones(2), jnp.ones(2), precision="best"), ValueError, "precision"),
        (lambda: jnp.cross(jnp.ones(4), jnp.ones(4)), ValueError, "length 2 or 3"),
        (lambda: jnp.linalg.norm(jnp.ones(2), "fro"), ValueError, "matrices"),
        (lambda: jnp.linalg.norm(jnp.ones((2, 2, 2)), 1), ValueError, "one or two axes"),
        (lambda: jnp.linalg.matrix_power(jnp.ones((2, 3)), 2), TypeError, "square"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_einsum_refuses_products_of_three_at_once():
    arrays = [numbers((2, n)) for n in (3, 4, 5)]
    with pytest.raises(NotImplementedError, match="optimize"):
        jnp.einsum("ij,ik,il->jkl", *arrays, optimize=[(0, 1, 2)])


@pytest.mark.parametrize("dtype, result, size", [("int8", "int32", 1024), ("uint8", "uint8", 300)])
def test_products_of_small_integers_are_exact(dtype, result, size):
    """The largest sums: of 1024 products exact in float32, of 300 of unsigned bytes in float64."""
    limits = np.iinfo(dtype)
    x = np.full((32, size), limits.min or limits.max, dtype)
    y = np.array(x.T)
    y[:, 1] = np.arange(size) % limits.max
    found = irax.jit(lambda x, y: irax.lax.dot(x, y, preferred_element_type=result))(x, y)
    expected = (x.astype(np.int64) @ y.astype(np.int64)).astype(result)
    np.testing.assert_array_equal(found, expected)


def test_precisions_by_name():
    names = ("default", "fastest", "bfloat16", "high", "tensorfloat32", "bfloat16_3x", "highest")
    found = [irax.lax.Precision(name).name for name in names]
    assert found == ["DEFAULT"] * 3 + ["HIGH"] * 3 + ["HIGHEST"]
    assert irax.lax.Precision(None) is irax.lax.Precision.DEFAULT
    with pytest.raises(ValueError, match="not a valid Precision"):
        irax.lax.Precision("exact")
