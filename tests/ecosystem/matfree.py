"""matfree: traces, functions and decompositions of matrices that are given as products."""

import jax
import jax.numpy as jnp
from matfree import decomp, eig, funm, lstsq, stochtrace


def run():
    A = jax.random.normal(jax.random.key(0), (12, 12))
    S = A @ A.T + jnp.eye(12)
    matvec = lambda x, S: S @ x
    x0 = jnp.ones(12)
    sampler = stochtrace.sampler_signs(x0, num=50)
    trace = stochtrace.estimator_monte_carlo(stochtrace.monte_carlo_trace(), sampler)
    tridiag = decomp.tridiag_sym(8)
    logdet = stochtrace.estimator_monte_carlo(funm.monte_carlo_funm_sym_logdet(tridiag), sampler)
    root = funm.funm_lanczos_sym(funm.dense_funm_sym_eigh(jnp.sqrt), decomp.tridiag_sym(12))
    hess = decomp.hessenberg(6, reortho="full")
    svd = eig.svd_partial(decomp.bidiag(6))
    solve = lstsq.lsmr()
    key = jax.random.key(1)
    return {
        "trace": trace(lambda v: S @ v, key),
        "logdet": logdet(matvec, key, S),
        "slope": jax.jit(jax.grad(lambda S: logdet(matvec, key, S)))(S),
        "root": root(matvec, x0, S),
        "hessenberg": jax.grad(lambda A: jnp.sum(hess(matvec, x0, A).J_small ** 2))(A),
        "values": svd(lambda v: A @ v, x0)[1],
        "solution": solve(lambda v: A.T @ v, x0)[0],
    }
