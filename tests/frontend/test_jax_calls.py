"""Calls of which values, dtypes, weak types, shapes and kinds of errors are those of JAX.

A line is a call that once came out differently; `jax` is irax or JAX in it, `jnp` its numpy, `sp`
its scipy, `jsp` its scipy.special. What the tables of cases ask of a function is not asked here.
"""

import importlib

import numpy as np
import pytest

import irax
from irax import tree_util

F = np.float32([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])
V = np.float32([0.5, 1.5, 2.5, 4.0])
I = np.int32([3, 1, 2, 1])  # noqa: E741
C = np.complex64([1 + 2j, 0.5 - 1j])

CALLS = """
jnp.interp(V, V[1:], V[:3], left="extrapolate", right="extrapolate")
jnp.interp(V, V[1:], V[:3], right="foo")
jnp.interp(C, V[1:], V[:3])
jnp.setxor1d(np.int32([3, 1, 2, 1]), np.int32([2, 5, 3, 3]), assume_unique=True)
jnp.clip(C, 0, 1)
jnp.clip(V, 0, 1j)
jnp.clip()
jnp.arange(0, 3j)
jnp.arange(None)
jnp.ldexp(V.astype(np.float16), I)
jnp.ldexp(2.0, 3)
jnp.ldexp(V, V)
jnp.ldexp(C, 2)
jnp.unwrap(I.astype(np.int8), period=3)
jnp.unwrap(I, period=2)
jnp.unwrap(np.int32([0, 2, 5, 0]), period=4)
jnp.linspace(V, 1, 0, retstep=True)
lax.dot_general(F.astype(jnp.bfloat16), F.T.astype(np.float16), (((1,), (0,)), ((), ())))
lax.dot_general(F.astype(np.int8), F.T.astype(np.uint8), (((1,), (0,)), ((), ())))
lax.dot_general(F.astype(np.complex64), F.T.astype(np.float16), (((1,), (0,)), ((), ())))
lax.dot_general(I, I, (((0,), (0,)), ((), ())), preferred_element_type=np.int8)
lax.dot(F, F)
jnp.abs(1j)
jnp.real(1j)
jnp.imag(1j)
jnp.cbrt(C)
jnp.fabs(C)
jnp.isposinf(C)
jnp.isneginf(C)
jnp.signbit(C)
jnp.i0(C)
jnp.spacing(C)
jnp.heaviside(C, 1)
jnp.nan_to_num(np.complex64([complex(np.nan, np.inf), complex(-np.inf, 2)]), posinf=3.0)
jnp.bitwise_count(np.bool([True, False]))
jnp.add(F, V)
jnp.add(V, V[:3])
jnp.remainder(V, V[:3])
jnp.gcd(V, I)
jnp.lcm(V, I)
jnp.where(V > 1, V)
jnp.where(V > 1, V, 0, size=2)
jnp.array_equal([1, 2], [1, 2])
jnp.array_equiv([1, 1], 1)
jnp.isscalar("a")
jnp.vdot(V, V, preferred_element_type=int)
jnp.linalg.vector_norm(V, ord=None)
jax.nn.hard_tanh(I)
jax.nn.celu(F, -1.0)
jnp.unwrap(C)
jnp.histogram2d(V, V, bins=2)
jnp.histogram2d(V, V, bins=2, weights=V)
jsp.beta(C, C)
jsp.expi(C)
jsp.entr(C)
jsp.gammaln(C)
jsp.gamma(C)
jsp.gamma(np.complex64(-1))
jsp.loggamma(C)
jsp.erfcx(C)
jsp.logit(C)
jnp.put(F, np.int32([0, -1, 3]), V[:2], mode="clip", inplace=False)
jnp.put(F, np.int32([0, -1, 3]), V[:2], inplace=False)
jnp.insert(V, 1.0, 2)
jnp.delete(V, 1.0)
jnp.choose(V, [V, V])
jnp.ravel_multi_index((I, I), (4, 4), dtype=float)
jnp.sort(V, kind="heapsort")
jnp.argsort(V, order="a")
jnp.vecdot(V, V[:3])
jnp.matvec(F, V)
jnp.matvec(F[:, :1], V)
jnp.vecmat(V, F)
jnp.vecmat(V[:1], F)
jnp.take(V, np.float32([1]))
jnp.take(V, np.int32([-1, 9]), mode="clip")
jnp.take_along_axis(V, np.int32([-1, 9, -9]), 0, mode="clip")
jnp.take_along_axis(V, np.int32([-1, 9, -9]), 0)
jnp.take_along_axis(V, np.int32([-1, 9]), 0, wrap_negative_indices=False)
jnp.unravel_index(np.int32([5, 6, 99, -1, -6, -7]), (2, 3))
jnp.unravel_index(np.int32([1, 7]), 5)
jnp.tri(3, k=1.5)
jnp.triu(F, 0.5)
jnp.eye(3, k=1.5)
jnp.stack(V[:0])
jnp.hstack(F[:0])
jnp.reshape(F, (6,), order="foo")
jnp.transpose(F, (0,))
jnp.median(C)
lax.dot(np.ones((2, 2), jnp.float8_e4m3fn), np.ones((2, 2), jnp.float8_e5m2))
jnp.fft.fft(jnp.zeros((0, 3)), axis=0)
jnp.fft.ifft2(jnp.zeros((0, 3)))
jnp.fft.fftn(jnp.zeros((0, 3)), norm="foo")
jnp.fft.rfft(jnp.zeros((0,)))
jnp.linalg.qr(F, mode="full")
sp.linalg.invhilbert(0)
sp.linalg.pascal(0)
sp.linalg.pascal(0, kind="lower")
sp.linalg.invpascal(0)
sp.linalg.helmert(0)
sp.linalg.dft(0)
sp.linalg.fiedler_companion(F[:, :0])
sp.linalg.convolution_matrix(5.0, 3)
sp.linalg.cholesky(np.triu(F.T[:2] @ F[:, :2]) + 9 * np.eye(2, dtype=np.float32))
sp.linalg.solve(np.triu(F[:, :2]) + 4 * np.eye(2, dtype=np.float32), V[:2], assume_a="pos")
sp.linalg.solve(np.tril(F[:, :2]) + 4 * np.eye(2, dtype=np.float32), V[:2], True, assume_a="pos")
sp.linalg.solve_sylvester(np.stack([F[:, :2]] * 2), F[:, :2], np.ones((2, 2, 2), np.float32))
jax.jvp(jsp.entr, (0.0,), (1.0,))
jax.grad(jsp.entr)(0.25)
jax.grad(jsp.xlogy)(0.0, 3.0)
jax.grad(jsp.xlogy)(0.0, 0.0)
jax.grad(jsp.xlogy, 1)(0.0, 3.0)
jax.hessian(jsp.xlogy, (0, 1))(0.0, 3.0)
jax.grad(jsp.xlog1py)(0.0, 3.0)
jax.hessian(jsp.xlog1py, (0, 1))(0.5, 3.0)
jax.jvp(jsp.betaln, (1e20, 1.0), (1.0, 0.0))
jax.jvp(jsp.betaln, (1.0, 1e7), (1.0, 1.0))
jsp.betaln(np.float32([9.5, 10.0, 30.0, -0.5]), np.float32([0.25, 12.0, 1e4, 20.0]))
jsp.hyp2f1(0.5, 0.7, 2.0, 1.5)
jsp.sph_harm_y(np.int8([1, 1]), np.int8([-1, 1]), np.float32([-2, 1]), np.float32([-4, 5]), n_max=1)
jsp.boxcox(C, C)
jsp.boxcox1p(C, C)
sp.ndimage.map_coordinates(np.arange(-3, 3), np.float32([[0.5, 1.5, 2.5, 3.5]]), 1)
sp.ndimage.map_coordinates(np.arange(-3, 3), np.float32([[-0.5, 1.5, 2.5, 5.5]]), 0)
sp.ndimage.map_coordinates(V, [[V], [V]], 1)
jax.random.PRNGKey(2**63)
jax.random.PRNGKey(np.uint64(2**63))
jnp.nanvar(V, dtype=int)
jnp.nanstd(V, dtype=int)
jnp.nanstd(V, dtype=np.float16)
jnp.intersect1d(I, I + 100, size=3, return_indices=True)
jnp.intersect1d(I, I + 1, size=4)
jnp.intersect1d(V[:0], V, size=2)
jnp.unique(V[:0], size=2)
jnp.bincount(I, minlength=20, length=8)
jnp.array(None)
jax.hessian(lax.pow, (0, 1))(3.0, 0.0)
jax.hessian(lax.pow, (0, 1))(0.0, 3.0)
jnp.trim_zeros(np.float32(0))
jnp.minimum.accumulate(C)
jnp.frompyfunc(lambda x, y: x * y, nin=2, nout=1, identity=1).reduce(F[:0])
jnp.frompyfunc(lambda x, y: x / y, nin=2, nout=1).reduce(F[:0], initial=2)
jax.ShapeDtypeStruct((2,), None)
lax.pad(V, V[:2], [(1, 1, 0)])
lax.dynamic_slice(V, (1, 2), (2,))
lax.dynamic_slice(F, (np.int32(1), np.int16(1)), (1, 1))
lax.dynamic_slice(F, (np.int32(1), 1), (1, 1))
lax.dynamic_slice(F, (1, True), (1, 1))
lax.dynamic_update_slice(F, F[:1], (np.int32(1), np.int16(1)))
jax.vmap(lambda x: 1.0)(np.zeros((3,), jax.float0))
jax.vmap(lambda x: x)(np.zeros((3,), jax.float0))
jax.vmap(lambda x, y: 1.0)(np.zeros((3,), jax.float0), np.zeros((2,), jax.float0))
jnp.unique(V[:0], size=2, fill_value=1)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calls_have_the_outcomes_of_jax(call):
    jax = pytest.importorskip("jax", reason="compares with JAX")
    theirs, ours = outcome(jax, call), outcome(irax, call)
    if isinstance(theirs, Exception):
        kinds = [kind.__name__ for kind in type(ours).__mro__]
        assert type(theirs).__name__ in kinds, (theirs, ours)
        return
    if isinstance(ours, Exception):
        raise ours
    for own, their in zip(ours, theirs, strict=True):
        assert own[:3] == their[:3]
        np.testing.assert_allclose(own[3], their[3], rtol=2e-5, atol=2e-6)


def outcome(library, call):
    """The dtypes, shapes, weak types and elements that a call gives; or the error."""
    name = library.__name__
    names = {"jax": library, "jnp": library.numpy, "lax": library.lax, "np": np}
    names |= {"sp": library.scipy, "jsp": importlib.import_module(f"{name}.scipy.special")}
    names |= {"F": F, "V": V, "I": I, "C": C}
    try:
        found = tree_util.tree_leaves(eval(call, names))
    except Exception as error:
        return error
    return [
        (str(x.dtype), x.shape, getattr(x, "weak_type", False), as_numpy(x))
        for x in (y if hasattr(y, "dtype") else np.asarray(y) for y in found)
    ]


def as_numpy(x):
    """The elements, in a dtype that NumPy compares."""
    if x.dtype == irax.float0:
        return np.zeros(x.shape)
    return np.asarray(x).astype(np.float64) if x.dtype.kind == "V" else np.asarray(x)
