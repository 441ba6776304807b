"""irax.scipy.special against SciPy: values in two precisions, derivatives, dtypes."""

import numpy as np
import pytest
import scipy.special

import irax
import irax.numpy as jnp
import irax.scipy.special as special

try:
    import jax.scipy.special as oracle
except ImportError:
    oracle = None

RNG = np.random.default_rng(0)


def between(low, high, count=24):
    return RNG.uniform(low, high, count)


def sized(low, high):
    """Numbers of all sizes, of both signs."""
    return np.exp(between(low, high)) * RNG.choice([-1, 1], 24)


ANY, POSITIVE, SHARE = sized(-4, 3), np.abs(sized(-3, 3)), between(0.02, 0.98)
EDGES = np.array([0.0, 1.0, np.inf, -np.inf, np.nan])

CASES = {
    "beta": (POSITIVE, between(0.2, 4)),
    "betaln": (POSITIVE, between(0.2, 4)),
    "betainc": (between(0.2, 9), between(0.2, 9), SHARE),
    "boxcox": (POSITIVE, np.r_[0.0, between(-2, 2, 23)]),
    "boxcox1p": (POSITIVE, np.r_[0.0, between(-2, 2, 23)]),
    "comb": (np.r_[5, between(8, 20, 23)], np.r_[6, between(0, 8, 23)]),
    "dawsn": (np.r_[ANY, EDGES],),
    "digamma": (ANY,),
    "entr": (np.r_[ANY, 0, 1],),
    "erf": (np.r_[ANY, EDGES],),
    "erfc": (np.r_[between(-5, 5), EDGES],),
    "erfcx": (np.r_[POSITIVE, between(-2, 2), 0, 1, np.inf],),
    "erfcinv": (np.r_[2 * SHARE, 0, 2],),
    "erfinv": (np.r_[2 * SHARE - 1, -1, 1],),
    "exp1": (np.r_[POSITIVE, 0, -1, np.inf],),
    "expi": (np.r_[ANY, 0, np.inf],),
    "expit": (np.r_[ANY, EDGES],),
    "expn": (np.arange(24) % 6, np.abs(ANY)),
    "factorial": (np.r_[between(0, 20), -1],),
    "fresnel": (np.r_[sized(-4, 2), 0, np.inf, -np.inf],),
    "gamma": (np.r_[between(0.1, 20), between(-4.9, -4.1), -1, 1, np.inf],),
    "gammainc": (POSITIVE, np.abs(ANY)),
    "gammaincc": (between(1, 9), between(0.1, 9)),
    "gammaln": (np.r_[ANY, 0, 1, np.inf],),
    "gammasgn": (np.r_[ANY, 0, -1],),
    "hyp1f1": (between(0.5, 3), between(1, 4), sized(-3, 2)),
    "hyp2f1": (between(0.5, 2), between(0.5, 2), between(1, 5), np.r_[between(-9, 0.8, 23), 0.95]),
    "i0": (ANY,),
    "i0e": (ANY,),
    "i1": (ANY,),
    "i1e": (ANY,),
    "kl_div": (np.r_[POSITIVE, 0, 0, -1], np.r_[POSITIVE[::-1], 0, 1, 1]),
    "log_ndtr": (np.r_[between(-40, 6), 0, np.inf, np.nan],),
    "log_softmax": (ANY,),
    "loggamma": (POSITIVE,),
    "logit": (np.r_[SHARE, 0, 1, 2],),
    "logsumexp": (ANY,),
    "multigammaln": (between(2, 9), 3),
    "ndtr": (np.r_[between(-6, 6), EDGES],),
    "ndtri": (np.r_[SHARE, 0, 1, 2, 1e-3, 1e-10, 1e-30],),
    "owens_t": (between(-4, 4), np.r_[between(-1, 1, 12), between(-9, 9, 11), np.inf]),
    "poch": (between(0.2, 9), between(0, 3)),
    "polygamma": (np.arange(24) % 4, POSITIVE),
    "rel_entr": (np.r_[POSITIVE, 0, 0, -1], np.r_[POSITIVE[::-1], 0, 1, 1]),
    "sici": (np.r_[ANY, 0, np.inf],),
    "softmax": (ANY,),
    "spence": (np.r_[POSITIVE, 0, 1, -1],),
    "sph_harm_y": (np.arange(24) % 5, np.arange(24) % 11 - 5, between(0, 3), between(-3, 3)),
    "wofz": (ANY + 1j * np.r_[between(-1, 3)],),
    "xlog1py": (np.r_[ANY, 0], np.r_[POSITIVE, -1]),
    "xlogy": (np.r_[ANY, 0], np.r_[POSITIVE, 0]),
    "zeta": (between(1.1, 9), between(0.5, 5)),
}

NOT_IN_SCIPY = {"bessel_jn", "bernoulli"}
NOT_DIFFERENTIATED = {"gammasgn", "loggamma", "wofz", "sph_harm_y", "logsumexp", "log_softmax"}
SLOPES = {  # the arguments that there are derivatives in; all, unless named
    "betainc": (2,),
    "comb": (),
    "expn": (1,),
    "multigammaln": (0,),
    "polygamma": (1,),
    "zeta": (1,),
    "softmax": (),
}
# Of float32: what the last bit of a large intermediate amounts to.
LOOSE = {"digamma": 1e-4, "expi": 1e-4, "gamma": 2e-5, "poch": 2e-5, "sici": 1e-4, "erfc": 1e-4}


def in_dtype(x, kind):
    """The operand with 32 or 64 bits, but for Python numbers."""
    if isinstance(x, int):
        return x
    target = {"f": "f", "i": "i", "c": "c"}[x.dtype.kind]
    width = {"f": 4, "i": 4, "c": 8}[target] * (2 if kind == "f8" else 1)
    return x.astype(f"{target}{width}")


def parts(result):
    return result if isinstance(result, tuple) else (result,)


def test_table_is_whole() -> None:
    names = {n for n in dir(special) if callable(getattr(special, n)) and not n.startswith("_")}
    assert names == set(CASES) | NOT_IN_SCIPY
    if oracle is not None:
        assert {n for n in dir(oracle) if not n.startswith("_")} <= names


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, kind: str) -> None:
    with irax.enable_x64(kind == "f8"):
        operands = [in_dtype(x, kind) for x in CASES[name]]
        wide = [x if isinstance(x, int) else in_dtype(x, "f8") for x in operands]
        expected = getattr(scipy.special, name)(*wide)
        found = getattr(special, name)(*operands)
        assert len(parts(found)) == len(parts(expected))
        for ours, theirs in zip(parts(found), parts(expected), strict=True):
            assert ours.dtype == in_dtype(np.asarray(theirs), kind).dtype
            rtol = 1e-11 if kind == "f8" else LOOSE.get(name, 1e-5)
            np.testing.assert_allclose(
                ours, theirs, rtol=rtol, atol=1e-14 if kind == "f8" else 2e-6
            )


@pytest.mark.parametrize("name", sorted(set(CASES) - NOT_DIFFERENTIATED))
def test_derivatives(name: str) -> None:
    with irax.enable_x64(True):
        function, theirs = getattr(special, name), getattr(scipy.special, name)
        operands = [x if isinstance(x, int) else in_dtype(x[:22], "f8") for x in CASES[name]]
        for i in SLOPES.get(name, range(len(operands))):
            total = lambda *xs: sum(jnp.sum(p) for p in parts(function(*xs)))
            found = irax.grad(total, i)(*operands)
            step = 1e-6 * np.maximum(np.abs(operands[i]), 1e-2)
            ends = []
            for sign in (1, -1):
                moved = [x + sign * step if j == i else x for j, x in enumerate(operands)]
                ends.append(sum(parts(theirs(*moved))))
            with np.errstate(invalid="ignore"):
                expected = (ends[0] - ends[1]) / (2 * step)
            known = np.isfinite(expected)
            assert known.sum() > 8
            scale = 1e-7 * np.abs(expected[known]) + 1e-9 * np.abs(ends[0][known]) / step[known]
            error = np.abs(np.asarray(found) - expected)[known]
            assert (error <= 2e-6 + 20 * scale).all(), (i, operands[i][known][error.argmax()])


@pytest.mark.skipif(oracle is None, reason="needs JAX as an oracle")
@pytest.mark.parametrize("name", sorted(set(CASES) - {"owens_t", "spence", "sph_harm_y", "wofz"}))
def test_dtypes_as_jax(name: str) -> None:
    for kind in ("f4", "i4", "f2"):
        whole = [x if isinstance(x, int) else np.ones(2, kind) for x in CASES[name]]
        try:
            expected = parts(getattr(oracle, name)(*whole))
        except (TypeError, ValueError, RuntimeWarning):  # which JAX's own casts give
            continue
        found = parts(getattr(special, name)(*whole))
        assert [x.dtype for x in found] == [x.dtype for x in expected], kind


@pytest.mark.slow
def test_compiled_and_batched() -> None:
    def f(x):
        wave = special.fresnel(x)[0] + special.dawsn(x) + special.sici(x)[0]
        return wave + special.log_ndtr(x) + special.hyp1f1(1.5, 2.5, x) + special.spence(x)

    x = np.array([0.3, 1.2, 2.7], np.float32)
    both = irax.value_and_grad(f)
    each = np.array([both(v) for v in x]).T
    np.testing.assert_allclose(irax.vmap(both)(x), each, rtol=1e-5)
    np.testing.assert_allclose(irax.jit(irax.vmap(both))(x), each, rtol=2e-5)


def test_bessel_functions_and_bernoulli_numbers() -> None:
    x = np.array([-3.0, 0.0, 0.01, 2.5, 20.0], np.float32)
    expected = [scipy.special.jv(k, x) for k in range(4)]
    np.testing.assert_allclose(special.bessel_jn(x, v=3), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(special.bernoulli(20), scipy.special.bernoulli(20), rtol=1e-6)
    slope = irax.grad(lambda v: special.bessel_jn(v, v=0)[0])(2.5)
    np.testing.assert_allclose(slope, -scipy.special.jv(1, 2.5), rtol=1e-5)


def test_options_of_sums() -> None:
    x, b = np.array([[1.0, 2.0], [3.0, 4.0]], "f4"), np.array([1.0, -2.0], "f4")
    for options in ({"axis": 0}, {"axis": 1, "keepdims": True}):
        found, sign = special.logsumexp(x, b=b, return_sign=True, **options)
        theirs = scipy.special.logsumexp(x, b=b, return_sign=True, **options)
        np.testing.assert_allclose([found, sign], theirs, rtol=1e-6)
    np.testing.assert_allclose(
        special.comb(np.arange(4), 2, repetition=True),
        scipy.special.comb(np.arange(4), 2, repetition=True),
        atol=1e-6,
    )
    with pytest.raises(NotImplementedError, match="exact"):
        special.factorial(3, exact=True)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: special.gammaln([1.0]), TypeError, "gammaln: x: "),
        (lambda: special.gammaln(1j), TypeError, "gammaln: expected real numbers, got complex64"),
        (lambda: special.bernoulli(-1), ValueError, "n must not be negative"),
        (lambda: special.bessel_jn(1.0, v=60), ValueError, "below n_iter=50"),
        (lambda: special.sph_harm_y(1.5, 0, 0.0, 0.0), TypeError, "n must be integers"),
        (lambda: special.sph_harm_y(1, 0, 0.0, 0.0, diff_n=1), NotImplementedError, "diff_n=1"),
    ],
)
def test_wrong_arguments(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


def test_tangents_of_exponential_integrals():
    """A missing derivative does not count where the order has no tangent."""
    for function in (special.exp1, lambda x: special.expn(1, x)):
        _, tangent = irax.jvp(function, (2.0,), (1.0,))
        np.testing.assert_allclose(tangent, -np.exp(-2) / 2, rtol=1e-5)
    assert np.isnan(irax.jvp(lambda n: special.expn(n, 2.0), (1.0,), (1.0,))[1])
    assert np.isnan(special.expn(np.array([1.5, 0.5]), np.array([0.5, 2.0]))).all()


@pytest.mark.parametrize("name", ["ndtr", "log_ndtr", "spence"])
def test_lists_where_jax_takes_them(name: str) -> None:
    found = getattr(special, name)([1.0, 2.0])
    np.testing.assert_allclose(
        found, getattr(scipy.special, name)([1.0, 2.0]), rtol=1e-5, atol=1e-6
    )


def test_weak_types_as_jax() -> None:
    assert special.kl_div(1.0, 2.0).weak_type
    assert special.rel_entr(1.0, 2).weak_type
    assert not special.rel_entr(np.ones(2, "f4"), 2.0).weak_type
    assert not special.wofz(1.0).weak_type


def test_combinations_of_very_many():
    found = special.comb(np.float32([1e20, 1e20]), np.float32([1.0, 0.5]))
    np.testing.assert_allclose(found, [1e20, 1.1283792e10], rtol=1e-4)


def test_beta_of_a_negative_and_a_large_number():
    # By mpmath, with 50 digits.
    expected = [34.482528303408636, 115.07301093320461, 2.9534701698290202]
    a, b = np.array([-2.5, -2.5, -0.5]), np.array([1e6, 1e20, 30.0])
    with irax.enable_x64(True):
        np.testing.assert_allclose(special.betaln(a, b), expected, rtol=1e-14)
        np.testing.assert_allclose(special.beta(a, b), -np.exp(expected), rtol=1e-12)


def test_poles_of_complex_numbers():
    poles = np.array([0, -1, -2], complex)
    for function in (special.gamma, special.loggamma):
        found = np.asarray(function(poles))
        assert np.isnan(found.real).all()
        assert np.isnan(found.imag).all()


def test_beta_at_poles_and_infinities():
    with irax.enable_x64(True):
        pairs = [(np.inf, 2), (2, np.inf), (0, 2), (-1, 2), (-3, 2), (-2, 5), (-1.5, 2.5), (-4, 3)]
        pairs += [(np.inf, 0), (np.inf, -1.5), (np.nan, 1), (1.5, -2.5), (1e7, 1e-3)]
        a, b = np.array(pairs, float).T
        np.testing.assert_allclose(special.beta(a, b), scipy.special.beta(a, b), rtol=1e-13)
        np.testing.assert_allclose(special.betaln(a, b), scipy.special.betaln(a, b), atol=1e-14)


def test_pochhammer_at_poles_and_infinities():
    pairs = [(np.inf, 1), (np.inf, -1), (np.inf, 0), (0, -1), (0, 0), (0, 2), (-2, 3), (-2, 1)]
    pairs += [(-2, -3), (-2, 0.5), (1, -1), (1, -3), (1, np.inf), (2, np.nan), (np.nan, 0)]
    pairs += [(-2.5, 4), (1e7, 2), (1e7, 0.5), (1e7, -3), (1e15, 1), (30, 25.5), (0.5, 30)]
    with irax.enable_x64(True):
        z, m = np.array(pairs, float).T
        expected = scipy.special.poch(z, m)
        expected[14] = 1.0  # as SciPy's at other z
        found = np.array(special.poch(z, m))
        np.testing.assert_allclose(np.delete(found, 14), np.delete(expected, 14), rtol=1e-13)


def test_divergences_of_nearly_equal_numbers():
    # By mpmath, with 40 digits: x log(x / y) - x + y for y = 1 and x = 1 + 2**-k.
    with irax.enable_x64(True):
        steps = 2.0 ** -np.array([2, 4, 8, 20, 40, 50])
        exact = [0.028929439142762195, 0.0019136606799620202, 7.619479780984432e-6]
        exact += [4.5474720632624339e-13, 4.1359030627638845e-25, 3.944304526105059e-31]
        np.testing.assert_allclose(special.kl_div(1 + steps, 1.0), exact, rtol=1e-14)
        logs = (1 + steps) * np.log1p(steps)
        np.testing.assert_allclose(special.rel_entr(1 + steps, 1.0), logs, rtol=1e-15)
    slope = irax.grad(special.kl_div, 1)(np.float32(1), np.float32(1 + 2**-20))
    np.testing.assert_allclose(slope, 2**-20, rtol=1e-5)
    ends = special.kl_div(np.float32([1, 1, np.inf, -1, 0]), np.float32([-np.inf, np.inf, 1, 1, 2]))
    np.testing.assert_array_equal(ends, [np.inf, np.inf, np.inf, np.inf, 2])


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_bessel_functions_of_all_arguments(kind):
    z = np.r_[np.linspace(-60, 60, 61), np.logspace(-10, 6, 40)].astype(kind)
    with irax.enable_x64(kind == "f8"):
        for v in (0, 4, 45):
            expected = [scipy.special.jv(k, z.astype(float)) for k in range(v + 1)]
            found = special.bessel_jn(z, v=v)
            np.testing.assert_allclose(found, expected, atol=2e-14 if kind == "f8" else 1e-6)
        np.testing.assert_array_equal(special.bessel_jn(np.inf, v=2), [0, 0, 0])
    slope = irax.grad(lambda x: special.bessel_jn(x, v=0)[0])(np.float32(50))
    np.testing.assert_allclose(slope, -scipy.special.j1(50), rtol=1e-5)


def test_integral_of_minus_infinity():
    assert special.expi(-np.inf) == 0
    assert irax.jit(special.expi)(-np.inf) == 0


@pytest.mark.slow
@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["eager", "jit"])
def test_confluent_functions_far_below(way):
    """Values by mpmath; the power series of the transformed function is as large as exp(-x)."""
    expected = {
        (1.0, 2.0, -200.0): 0.005,
        (0.5, 1.0, -1e3): 0.0178457065001532,
        (2.0, 10.0, -1e5): 7.19899209071395e-9,
        (0.5, 100.0, -1e5): 0.0314885135829162,
    }
    a, b, x = np.array(list(expected)).T
    found = way(special.hyp1f1)(a.astype("f4"), b.astype("f4"), x.astype("f4"))
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-5)
    slope = way(irax.grad(special.hyp1f1))(0.5, 1.5, -6000.0)
    np.testing.assert_allclose(slope, -0.106135421661944, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("way", [lambda f: f, irax.jit], ids=["eager", "jit"])
def test_confluent_functions_that_oscillate(way):
    """Values by mpmath; all digits of the power series cancel."""
    expected = {
        (100.0, 0.5, -10.0): 0.0067643065309886745,
        (-100.5, 0.5, 10.0): 138.3032381807835,
        (-20.0, 10.0, 25.0): -0.0018786592885369806,
        (300.0, 3.0, -25.0): 1.062846888929552e-11,
    }
    a, b, x = np.array(list(expected)).T
    with irax.enable_x64():
        found = way(special.hyp1f1)(a, b, x)
        slope = way(irax.grad(special.hyp1f1))(100.0, 0.5, -10.0)
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-9)
    np.testing.assert_allclose(slope, -0.0001508957212418793, rtol=1e-7)
    found = way(special.hyp1f1)(*(v.astype("f4") for v in (a, b, x)))
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-3)


def test_hypergeometric_functions_without_a_digit_are_nan():
    """The terms of their power series are 1e10 times as large as their sums, and more."""
    assert np.isnan(special.hyp1f1(-1e6, 1.0, 1.0))
    assert np.isnan(special.hyp2f1(-50.0, 51.0, 1.0, 0.3))
    assert special.hyp1f1(-1.0, 1.0, 1.0) == 0


def test_zeta_of_a_term_that_overflows():
    assert irax.jit(special.zeta)(1e5, -0.5) == scipy.special.zeta(1e5, -0.5) == np.inf
