"""lineax: linear solves by several solvers, and their derivatives."""

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


def run():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(4, 4)).astype(np.float32) + 4 * np.eye(4, dtype=np.float32)
    vector = rng.normal(size=4).astype(np.float32)
    positive = matrix @ matrix.T
    found = {}
    for solver in (lx.LU(), lx.QR(), lx.SVD(), lx.AutoLinearSolver(well_posed=None)):
        operator = lx.MatrixLinearOperator(matrix)
        found[type(solver).__name__] = lx.linear_solve(operator, vector, solver).value
    definite = lx.MatrixLinearOperator(positive, lx.positive_semidefinite_tag)
    found["cholesky"] = lx.linear_solve(definite, vector, lx.Cholesky()).value
    found["cg"] = lx.linear_solve(definite, vector, lx.CG(rtol=1e-5, atol=1e-5)).value
    tall = lx.MatrixLinearOperator(matrix[:, :2])
    found["least"] = lx.linear_solve(tall, vector, lx.QR()).value

    @jax.jit
    def loss(m, v):
        return jnp.sum(lx.linear_solve(lx.MatrixLinearOperator(m), v).value ** 2)

    found["gradient"] = jax.grad(loss)(matrix, vector)
    lanes = jax.vmap(loss, in_axes=(None, 0))(matrix, np.stack([vector, 2 * vector]))
    return found | {"lanes": lanes}
