"""Differentiate an adaptive solver of differential equations in reverse, in two ways.

A solver takes as many steps as the errors call for, which nobody knows beforehand. Reverse mode of
its loop needs a bound of their number, and keeps what is carried at about the bound's square root
of them; the others it computes again. The other way is not to differentiate the steps at all, but
to solve the adjoint equation backwards in time. Both are held against the derivative in closed
form, which a linear equation has.

    python examples/ode_adjoint.py
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

import irax
import irax.numpy as jnp
from irax.experimental.dormand_prince import Solver
from irax.experimental.ode import odeint

TIME = 2.0
TOLERANCES = (1e-5, 1e-7, 1e-9)


def slope(y, t, a):
    """dy/dt = A y."""
    return a @ y


def by_steps(y, a, tolerance):
    """y at the end, by a loop that has reverse mode."""
    solver = Solver(
        lambda y, t: slope(y, t, a), tolerance, tolerance, np.inf, np.inf, max_steps=400
    )
    return solver.solve(y, jnp.array([0.0, TIME]))[-1]


def by_adjoint(y, a, tolerance):
    """y at the end, by a loop whose derivative is the adjoint equation."""
    return odeint(slope, y, jnp.array([0.0, TIME]), a, rtol=tolerance, atol=tolerance)[-1]


def gradient(solve):
    """The gradient of |y|^2 / 2 at the end, with respect to y at the start and to A."""

    def loss(y, a, tolerance):
        return jnp.sum(solve(y, a, tolerance) ** 2) / 2

    return irax.jit(irax.grad(loss, (0, 1)))


def start():
    """y at the start, and A."""
    rng = np.random.default_rng(0)
    return rng.normal(size=4), rng.normal(size=(4, 4))


def step_and_arguments():
    """A gradient, and an example of its arguments."""
    y, a = (x.astype("float32") for x in start())
    return gradient(by_adjoint), (y, a, np.float32(1e-3))


def in_closed_form(y, a):
    """The solution and its gradient in closed form: y(T) = exp(T A) y, and the adjoint of a matrix
    is its transpose.
    """
    exponential = scipy.linalg.expm(TIME * a)
    end = exponential @ y
    _, of_matrix = scipy.linalg.expm_frechet(TIME * a.T, TIME * np.outer(end, y))
    return exponential.T @ end, of_matrix


def main():
    """Prints the relative error of both gradients, for solvers of some tolerances."""
    y, a = start()
    expected = in_closed_form(y, a)
    ways = {"reverse mode of the loop": by_steps, "adjoint equation": by_adjoint}
    gradients = {name: gradient(solve) for name, solve in ways.items()}
    print(f"{'tolerance':12}" + "".join(f"{name:>28}" for name in ways))
    for tolerance in TOLERANCES:
        errors = [
            max(
                np.max(np.abs(x - e)) / np.max(np.abs(e))
                for x, e in zip(found, expected, strict=True)
            )
            for found in (g(y, a, tolerance) for g in gradients.values())
        ]
        print(f"{tolerance:<12.0e}" + "".join(f"{error:28.1e}" for error in errors))


if __name__ == "__main__":
    with irax.enable_x64(True):
        main()
