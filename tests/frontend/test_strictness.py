"""Whose operands the options that mind promotion judge: the tables' functions by `case_checks.py`,
here what calls functions of the user's, and what is no function.
"""

import importlib

import numpy as np
import pytest
from tests.frontend.case_checks import strictness

import irax
import irax.numpy as jnp
from irax.dtypes import TypePromotionError
from irax.experimental import sparse
from irax.scipy.spatial.transform import Rotation

THREE = np.array([1, 2, 3], np.int32)


def ones(m, shape=(3,), dtype="float32"):
    return m.numpy.ones(shape, dtype)


def module(m, name):
    return importlib.import_module(f"{m.__name__}.{name}")


def solver(name):
    return lambda m: getattr(module(m, "scipy.sparse.linalg"), name)


def rotation(m):
    return module(m, "scipy.spatial.transform").Rotation


def grid(m):
    points = m.numpy.arange(3.0), m.numpy.arange(4.0)
    return module(m, "scipy.interpolate").RegularGridInterpolator(points, ones(m, (3, 4)))


def minimum(m, fun):
    return module(m, "scipy.optimize").minimize(fun, ones(m), method="BFGS").x


def with_rule(m):
    f = m.custom_jvp(lambda x: x * 2)
    f.defjvp(lambda p, t: (f(*p), t[0] * m.numpy.int32(2)))
    return m.grad(lambda x: m.lax.map(f, x).sum())(ones(m))


GOOD = {
    "gmres": lambda m: solver("gmres")(m)(lambda x: x * 2, ones(m)),
    "gmres of complex": lambda m: solver("gmres")(m)(lambda x: x * 2, ones(m, (3,), "complex64")),
    "cg": lambda m: solver("cg")(m)(m.numpy.eye(3), ones(m)),
    "minimize": lambda m: minimum(m, lambda x: ((x - 2) ** 2).sum()),
    "Rotation.mean": lambda m: rotation(m).from_quat(ones(m, (2, 4))).mean().as_quat(),
    "Rotation.apply": lambda m: rotation(m).from_rotvec(ones(m)).apply(ones(m)),
    "interpolator": lambda m: grid(m)(ones(m, (2, 2))),
    "gaussian_kde": lambda m: m.scipy.stats.gaussian_kde(m.numpy.arange(5.0)).logpdf(ones(m)),
    "mgrid": lambda m: m.numpy.mgrid[0:3, 0:2.5:0.5],
    "update by a bool": lambda m: m.numpy.arange(3).at[0].set(True),
    "ufunc.outer": lambda m: m.numpy.add.outer(ones(m), ones(m, (2,))),
    "method": lambda m: ones(m, (3, 3), "uint8").std(axis=0),
    "initializer": lambda m: m.nn.initializers.orthogonal()(m.random.PRNGKey(0), (3, 4)),
    "gradient": lambda m: m.grad(lambda x: m.numpy.linalg.det(x))(m.numpy.eye(3)),
    "multivariate_normal": lambda m: m.random.multivariate_normal(
        m.random.PRNGKey(0), ones(m, (2, 3)), m.numpy.eye(3)
    ),
    "apply_along_axis": lambda m: m.numpy.apply_along_axis(
        lambda x: x - x.mean(), 0, ones(m, (3, 2))
    ),
    "odeint": lambda m: module(m, "experimental.ode").odeint(
        lambda y, t: -y, ones(m), m.numpy.arange(3.0)
    ),
    "reduce of lax.add": lambda m: m.lax.reduce(ones(m), m.numpy.float32(0), m.lax.add, (0,)),
    "eig": lambda m: m.lax.linalg.eig(ones(m, (2, 2)), compute_left_eigenvectors=True),
    "tridiagonal": lambda m: m.lax.linalg.tridiagonal(ones(m, (2, 2), "complex64")),
    "tridiagonal_solve": lambda m: module(m, "lax.linalg").tridiagonal_solve(
        *[ones(m, (2, 3))] * 3, ones(m, (2, 3, 1)), perturb_singular=True
    ),
    "symmetric_product": lambda m: m.lax.linalg.symmetric_product(
        ones(m, (2, 3, 3)), ones(m, (2, 3, 3)), symmetrize_output=True
    ),
    "device": lambda m: m.numpy.fft.fftfreq(4, device=m.devices()[0]),
    "indices of two dtypes": lambda m: ones(m, (3, 3))[
        m.numpy.asarray([0, 1], "int8"), m.numpy.asarray([1, 2])
    ],
}
BAD = {
    "minimize": lambda m: minimum(m, lambda x: ((x - THREE) ** 2).sum()),
    "minimize, ranks": lambda m: minimum(m, lambda x: (x - ones(m, (2, 3))).sum()),
    "cg": lambda m: solver("cg")(m)(lambda x: x * THREE, ones(m)),
    "cg from elsewhere": lambda m: solver("cg")(m)(
        m.numpy.eye(3), ones(m), ones(m, (3,), "float16")
    ),
    "scan": lambda m: m.lax.scan(lambda c, x: (c, x * m.numpy.int32(2)), 0.0, ones(m)),
    "switch": lambda m: m.lax.switch(0, [lambda x: x * THREE, lambda x: x], ones(m)),
    "while_loop": lambda m: m.lax.while_loop(lambda x: (x * THREE).sum() < 9, lambda x: x, ones(m)),
    "fori_loop": lambda m: m.lax.fori_loop(0, 3, lambda i, x: x * THREE, ones(m)),
    "associative_scan": lambda m: m.lax.associative_scan(lambda a, b: a * b * THREE[0], ones(m)),
    "rule": with_rule,
    "jitted": lambda m: m.lax.map(m.jit(lambda x: x * THREE[0]), ones(m)),
    "vectorize": lambda m: m.numpy.vectorize(lambda x: x - THREE)(ones(m)),
    "vectorize, ranks": lambda m: m.numpy.vectorize(lambda x, y: x)(ones(m, (2, 3)), ones(m)),
    "apply_along_axis": lambda m: m.numpy.apply_along_axis(lambda x: x - THREE, 0, ones(m, (3, 2))),
    "odeint": lambda m: module(m, "experimental.ode").odeint(
        lambda y, t: -y * THREE, ones(m), m.numpy.arange(3.0)
    ),
    "beta": lambda m: m.random.beta(
        m.random.PRNGKey(0), m.numpy.float16(1), m.numpy.float32(2), dtype="float32"
    ),
    "ufunc.outer": lambda m: m.numpy.add.outer(ones(m), THREE),
    "NumPy's array": lambda m: m.numpy.hypot(ones(m), np.ones(3, np.float16)),
    "number": lambda m: m.numpy.logaddexp(ones(m, (3,), "int32"), 0.5),
    "clip": lambda m: m.numpy.clip(ones(m, (3,), "int32"), 0.5, 2),
    "at": lambda m: ones(m).at[0].set(m.numpy.int32(1)),
    "method": lambda m: ones(m).dot(THREE),
    "promote_types": lambda m: ones(m, (3,), m.numpy.promote_types("float32", "int32")),
    "array": lambda m: m.numpy.array([m.numpy.float32(1), m.numpy.int32(1)]),
}


def refused(library, program):
    """Return True if strict promotion refuses a program."""
    try:
        with strictness(library):
            library.eval_shape(lambda: program(library))
    except ValueError as error:
        return "promotion" in str(error).lower()
    return False


def check_with_jax(program, expected):
    """JAX judges a program so, too."""
    jax = pytest.importorskip("jax", reason="compares with JAX")
    assert refused(jax, program) is expected


@pytest.mark.parametrize("name", GOOD)
def test_what_functions_do_inside_is_not_judged(name):
    with strictness(irax):
        GOOD[name](irax)
    assert not refused(irax, GOOD[name])
    check_with_jax(GOOD[name], False)


@pytest.mark.parametrize("name", BAD)
def test_what_the_user_gives_or_does_is_judged(name):
    irax.eval_shape(lambda: BAD[name](irax))
    with strictness(irax), pytest.raises(ValueError, match="promotion"):
        BAD[name](irax)
    assert refused(irax, BAD[name])
    check_with_jax(BAD[name], True)


def test_what_was_replayed_leniently_is_judged_again():
    x, n = ones(irax), jnp.arange(3)

    def inside():
        with strictness(irax):
            return jnp.mean(jnp.array([True, False])), Rotation.from_quat(ones(irax, (2, 4))).mean()

    for _ in range(100):
        inside()
        jnp.add(x, n)
        with strictness(irax), pytest.raises(TypePromotionError):
            jnp.add(x, n)


def test_ranks_are_warned_of_once_they_are_the_users():
    with irax.numpy_rank_promotion("warn"):
        jnp.linalg.slogdet(jnp.stack([jnp.eye(3)] * 2))
        with pytest.warns(UserWarning, match="floor_divide: operands of shapes"):
            jnp.floor_divide(ones(irax, (2, 3)), ones(irax))


def test_options_are_back_after_an_error_of_the_users():
    def fails(x):
        raise KeyError("mine")

    with strictness(irax):
        with pytest.raises(KeyError):
            irax.lax.map(fails, ones(irax))
        with pytest.raises(KeyError):
            jnp.apply_along_axis(fails, 0, ones(irax))
        with pytest.raises(TypePromotionError):
            ones(irax) + THREE
    assert irax.config.given is None
    assert not irax.config.stepwise


def test_what_sparse_arrays_do_inside_is_not_judged():
    with strictness(irax):
        m = sparse.BCOO.fromdense(jnp.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
        assert (m @ m.T).todense().tolist() == [[5, 0], [0, 9]]
        assert m.sum(0).todense().tolist() == [1, 3, 2]
        assert (m + m).sum_duplicates().todense()[1].tolist() == [0, 6, 0]
        assert m[0].todense().tolist() == [1, 0, 2]
        assert m.reshape(3, 2).todense().tolist() == [[1, 0], [2, 0], [3, 0]]
        rows = sparse.bcoo_concatenate([m, m], dimension=0)
        assert rows.shape == (4, 3)
