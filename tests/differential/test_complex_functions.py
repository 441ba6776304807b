"""Compiled functions of complex numbers at zeros, infinities, nans and numbers without a square:
NumPy's results, which are those of C's Annex G.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline

PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e30, -1e30, 1e-30, np.inf, -np.inf, np.nan]
PLACES = np.array([complex(a, b) for a in PARTS for b in PARTS])
FUNCTIONS = {
    "log": np.log,
    "log_plus_one": np.log1p,
    "exponential": np.exp,
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "abs": np.abs,
}
NAMES = [
    *("log", "log1p", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "abs", "log2"),
    *("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"),
]


def agree(found, expected, tolerance=2e-6):
    for part in (np.real, np.imag):
        ours, theirs = (_without_signs(part(np.asarray(x))) for x in (found, expected))
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=1e-29)


def _without_signs(x):
    """Take the signs of infinities away."""
    return np.where(np.isinf(x), np.inf, x)


def signs_agree(found, expected):
    """Compare the signs of infinities and zeros; for infinite and nan numbers they are not
    determined.
    """
    finite = np.isfinite(PLACES)
    for part in (np.real, np.imag):
        ours, theirs = part(found)[finite], part(expected)[finite]
        exact = np.isinf(theirs) | (theirs == 0)
        np.testing.assert_array_equal(np.signbit(ours)[exact], np.signbit(theirs)[exact])


def expected_of(function, dtype):
    with np.errstate(all="ignore"):
        places = PLACES.astype(dtype)
        wide = function(places.astype(np.complex128))
        return wide.astype(np.finfo(dtype).dtype if wide.dtype.kind == "f" else dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_formula(name, dtype):
    element = {np.complex64: "complex<f32>", np.complex128: "complex<f64>"}[dtype]
    type_ = f"tensor<{PLACES.size}x{element}>"
    result = type_ if name != "abs" else type_.replace("complex<", "").replace(">>", ">")
    operation = f'"stablehlo.{name}"(%x) : ({type_}) -> {result}'
    module = mlir.parse_module(
        f"func.func @main(%x: {type_}) -> {result} {{ %0 = {operation} return %0 : {result} }}"
    )
    run_pipeline(module, "legalize{target=iree-cpu}")
    assert "stablehlo.map" in str(module)
    (found,) = Evaluator(module)("main", [PLACES.astype(dtype)])
    expected = expected_of(FUNCTIONS[name], dtype)
    agree(found, expected)
    signs_agree(found, expected)


def test_division():
    pairs = [np.repeat(PLACES, PLACES.size), np.tile(PLACES, PLACES.size)]
    x, y = (p.astype(np.complex64) for p in pairs)
    found = irax.jit(jnp.divide)(x, y)
    with np.errstate(all="ignore"):
        expected = np.divide(x, y)
        off = np.abs(np.asarray(found) - expected) > 1e-6 * np.abs(expected)
    found = np.asarray(found)
    whole = np.isfinite(expected)
    assert not np.any(off & whole)
    # C's limits, where NumPy has nan (C11, annex G.5.1).
    fades, swells = np.isfinite(x) & np.isinf(y), np.isinf(x) & np.isfinite(y)
    assert np.all(found[fades] == 0)
    assert np.all(np.isinf(found[swells]))
    others = ~(whole | fades | swells)
    agree(found[others], expected[others])


@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["eager", "jit"])
def test_sizes_that_numpy_loses(way):
    """NumPy's log1p is log(1 + z), and its sign divides by a size that may overflow."""
    large = np.finfo(np.float32).max * 0.9
    z = jnp.asarray(np.array([1e-30 + 1e-30j, 3e-9 - 4e-5j, complex(large, large)], np.complex64))
    logs, signs = way(lambda z: (jnp.log1p(z), jnp.sign(z)))(z)
    with mpmath.workdps(90):
        expected = [complex(mpmath.log(1 + mpmath.mpc(complex(x)))) for x in np.asarray(z)]
    agree(logs, np.array(expected))
    wide = np.asarray(z).astype(np.complex128)
    agree(signs, wide / np.abs(wide))
    assert way(jnp.log1p)(jnp.asarray([complex(-2, -0.0)]))[0].imag < 0


@pytest.mark.slow
def test_compiled():
    @irax.jit
    def all_of_them(z):
        return [getattr(jnp, name)(z) for name in NAMES]

    for found, name in zip(all_of_them(PLACES.astype(np.complex64)), NAMES, strict=True):
        expected = expected_of(getattr(np, name), np.complex64)
        agree(found, expected)
        signs_agree(found, expected)


@pytest.mark.slow
def test_near_zero_and_one():
    names = [name for name in (*NAMES, "expm1") if name != "log2"]
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 2)) * 10.0 ** rng.uniform(-6, 0.5, (200, 1))
    z = (z[:, 0] + 1j * z[:, 1]).astype(np.complex64)
    z = np.concatenate([z, np.exp(1j * z.real).astype(np.complex64), z + 1])
    compiled = irax.jit(lambda z: [getattr(jnp, name)(z) for name in names])(z)
    for found, name in zip(compiled, names, strict=True):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(z.astype(np.complex128))
        size = np.maximum(np.abs(expected), 1e-30)
        off = np.abs(np.asarray(found) - expected)
        assert np.median(off / size) < 2e-7, name
        # Where these vanish, float32 knows no more of their arguments.
        least = 0.1 if name in ("log", "arccos", "arccosh") else 0
        assert np.max(off / np.maximum(size, least)) < 3e-6, name


OF_LARGE = {
    "sqrt": (jnp.sqrt, np.sqrt),
    "rsqrt": (irax.lax.rsqrt, lambda z: 1 / np.sqrt(z)),
    "arcsin": (jnp.arcsin, np.arcsin),
    "arccos": (jnp.arccos, np.arccos),
    "arcsinh": (jnp.arcsinh, np.arcsinh),
    "arccosh": (jnp.arccosh, np.arccosh),
    "sign": (jnp.sign, lambda z: z / abs(z)),
    "quotient": (lambda z: z / z, lambda z: z / z),
    "half": (lambda z: z / (2 + 2j), lambda z: z / np.clongdouble(2 + 2j)),
    "inverse": (lambda z: 1e30j / z, lambda z: np.clongdouble(1e30j) / z),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", OF_LARGE)
def test_numbers_whose_magnitude_is_no_float(name):
    """Their functions are finite all the same."""
    most = float(np.finfo(np.float32).max)
    parts = [(a * most, b * most) for a in (0.9, -0.9) for b in (0.9, -0.9, 0.3)]
    places = np.array([complex(a, b) for a, b in [*parts, (most, 1), (-2, -most)]], np.complex64)
    ours, exact = OF_LARGE[name]
    found, expected = irax.jit(ours)(places), exact(places.astype(np.clongdouble))
    for part in (np.real, np.imag):
        tolerance = 4e-7 * np.abs(expected) if name in ("quotient", "half") else 0
        error = np.abs(part(np.asarray(found)) - part(expected))
        assert (error <= 1e-6 * np.abs(part(expected)) + tolerance + 1.2e-38).all()
