"""jacfwd, jacrev, hessian and linearize: holomorphic functions, aux, several arguments; and that
transformations take the arguments that JAX's take.
"""

import inspect

import numpy as np
import pytest
from tests import oracle

import irax
import irax.numpy as jnp

Z = jnp.array([0.5 + 1j, -1 + 0.2j, 2.0])
X = jnp.array([0.5, -1.0, 2.0])
BOTH = pytest.mark.parametrize("jacobian", [irax.jacfwd, irax.jacrev])


def close(found, expected):
    irax.tree_util.tree_map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6), found, expected
    )


@BOTH
def test_holomorphic(jacobian):
    f = lambda z: jnp.sin(z) * z[0]
    expected = np.diag(np.cos(Z) * Z[0])
    expected[:, 0] += np.sin(Z)
    close(jacobian(f, holomorphic=True)(Z), expected)
    with pytest.raises(TypeError, match="complex"):
        jacobian(f, holomorphic=True)(X)
    with pytest.raises(TypeError, match="must return complex"):
        jacobian(jnp.abs, holomorphic=True)(Z)
    close(irax.hessian(lambda z: jnp.sum(z**3), holomorphic=True)(Z), np.diag(6 * np.asarray(Z)))


def test_complex_without_holomorphic():
    f = lambda z: jnp.real(z) ** 2 + jnp.imag(z)
    close(irax.jacrev(f)(Z), np.diag(2 * np.real(Z) - 1j))
    with pytest.raises(TypeError, match="real one"):
        irax.jacfwd(f)(Z)
    with pytest.raises(TypeError, match="holomorphic=True"):
        irax.jacrev(lambda z: z)(Z)
    close(irax.jacfwd(lambda x: x * (1 + 2j))(X), np.eye(3) * (1 + 2j))


@BOTH
def test_aux_and_several_arguments(jacobian):
    def f(x, n, tree):
        return {"y": x * tree["s"], "t": tree["s"] ** n}, {"aux": x + n}

    found, aux = jacobian(f, argnums=(0, 2), has_aux=True)(X, 3, {"s": 2.0})
    close(aux, {"aux": np.asarray(X) + 3})
    expected = {
        "y": (2 * np.eye(3), {"s": np.asarray(X)}),
        "t": (np.zeros(3), {"s": 12.0}),
    }
    close(found, expected)
    one, _ = jacobian(f, argnums=-1, has_aux=True)(X, 3, {"s": 2.0})
    close(one, {"y": {"s": np.asarray(X)}, "t": {"s": 12.0}})


def test_hessian_with_aux():
    f = lambda x, y: (jnp.sum(x**2 * y), x.shape[0])
    found, aux = irax.hessian(f, (0, 1), has_aux=True)(X, 3.0)
    x = np.asarray(X)
    close(found, ((6 * np.eye(3), 2 * x), (2 * x, 0.0)))
    assert aux == 3
    assert type(aux) is int


def test_integers():
    found = irax.jacrev(lambda n, x: x * n, (0, 1), allow_int=True)(3, X)
    assert found[0].dtype == irax.dtypes.float0
    assert found[0].shape == (3,)
    close(found[1], 3 * np.eye(3))
    with pytest.raises(TypeError, match="integers have no derivative"):
        irax.jacrev(lambda n: n * 1.0)(3)


def test_linearize_with_aux():
    y, push, aux = irax.linearize(lambda x: (x**2, {"n": x + 1}), X, has_aux=True)
    x = np.asarray(X)
    close((y, push(X), aux), (x**2, 2 * x**2, {"n": x + 1}))
    with pytest.raises(TypeError, match="pair"):
        irax.linearize(lambda x: x, X, has_aux=True)
    with pytest.raises(TypeError, match="pair"):
        irax.jvp(lambda x: x, (X,), (X,), has_aux=True)


def test_names_of_arguments_that_are_not_arrays():
    @irax.checkpoint
    def plain(x):
        return x

    def f(x, mode, *, scale):
        assert isinstance(mode, str)
        assert isinstance(scale, int)
        return jnp.sin(x) * scale

    g = irax.checkpoint(f, static_argnames=("mode", "scale"))
    close(irax.grad(lambda x: plain(g(x, "a", scale=3)))(1.0), 3 * np.cos(1))
    close(irax.grad(lambda x: g(x, mode="a", scale=3))(1.0), 3 * np.cos(1))


NAMES = [
    "grad",
    "value_and_grad",
    "jacfwd",
    "jacrev",
    "hessian",
    "jvp",
    "vjp",
    "linearize",
    "vmap",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "custom_gradient",
    "linear_transpose",
    "closure_convert",
    "custom_jvp.defjvp",
    "custom_jvp.defjvps",
    "custom_vjp.defvjp",
    "lax.cond",
    "lax.switch",
    "lax.scan",
    "lax.map",
    "lax.while_loop",
    "lax.fori_loop",
    "lax.associative_scan",
    "lax.custom_root",
    "lax.custom_linear_solve",
    "scipy.sparse.linalg.cg",
    "scipy.sparse.linalg.gmres",
    "scipy.sparse.linalg.bicgstab",
    "experimental.ode.odeint",
    "flatten_util.ravel_pytree",
    "custom_derivatives.zero_from_primal",
]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in oracle.LACKING])
def test_arguments_are_those_of_jax(name):
    jax = pytest.importorskip("jax")
    for module in ("scipy.sparse.linalg", "experimental.ode", "flatten_util"):
        pytest.importorskip(f"jax.{module}")

    def found(module):
        for part in name.split("."):
            module = getattr(module, part)
        parameters = inspect.signature(module).parameters.values()
        return {p.name: p.kind for p in parameters}

    ours, theirs = found(irax), found(jax)
    missing = {n for n in theirs if n not in ours and not n.startswith("_")}
    assert not missing, f"{name}: {missing}"
    order = [n for n in ours if n in theirs]
    assert order == [n for n in theirs if n in order] or name == "checkpoint"


@BOTH
def test_an_argument_without_elements(jacobian):
    found = jacobian(lambda x: (x**2, x.sum()))(np.zeros(0, np.float32))
    assert [x.shape for x in found] == [(0, 0), (0,)]
