"""SCICO: deconvolution by ADMM and by proximal gradients, with total variation."""

import jax
import scico.numpy as snp
from scico import functional, linop, loss
from scico.optimize import PGM
from scico.optimize.admm import ADMM, LinearSubproblemSolver


def run():
    x = snp.zeros((16, 16)).at[4:10, 5:12].set(1.0)
    C = linop.CircularConvolve(h=snp.ones((3, 3)) / 9.0, input_shape=x.shape)
    y = C @ x
    D = linop.FiniteDifference(input_shape=x.shape, append=0)
    solver = ADMM(
        f=loss.SquaredL2Loss(y=y, A=C),
        g_list=[2e-3 * functional.L21Norm()],
        C_list=[D],
        rho_list=[1e-1],
        x0=C.adj(y),
        maxiter=8,
        subproblem_solver=LinearSubproblemSolver(cg_kwargs={"tol": 1e-3, "maxiter": 20}),
    )
    other = PGM(
        f=loss.SquaredL2Loss(y=y, A=C),
        g=functional.L1Norm() * 1e-3,
        L0=1.0,
        x0=snp.zeros(x.shape),
        maxiter=10,
    )
    return {
        "deblurred": solver.solve(),
        "sparse": other.solve(),
        "slope": jax.grad(loss.SquaredL2Loss(y=y, A=C))(x * 0.5),
    }
