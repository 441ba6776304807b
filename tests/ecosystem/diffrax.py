"""diffrax: an ordinary and a stochastic differential equation, and gradients through solves."""

import diffrax
import jax
import jax.numpy as jnp


def run():
    def lotka_volterra(t, y, args):
        a, b, c, d = args
        return jnp.stack([a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]])

    def solve(args, adjoint=None, solver=None):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lotka_volterra),
            solver or diffrax.Tsit5(),
            t0=0.0,
            t1=3.0,
            dt0=0.1,
            y0=jnp.array([10.0, 10.0]),
            args=args,
            saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 3.0, 4)),
            stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-4),
            adjoint=adjoint or diffrax.RecursiveCheckpointAdjoint(),
            max_steps=256,
        )

    args = jnp.array([1.1, 0.1, 0.4, 0.1])
    solution = jax.jit(solve)(args)
    gradient = jax.jit(jax.grad(lambda a: solve(a).ys[-1].sum()))(args)
    backsolve = jax.jit(jax.grad(lambda a: solve(a, diffrax.BacksolveAdjoint()).ys[-1].sum()))
    brownian = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-3, shape=(), key=jax.random.key(0))
    noisy = diffrax.diffeqsolve(
        diffrax.MultiTerm(
            diffrax.ODETerm(lambda t, y, args: -y),
            diffrax.ControlTerm(lambda t, y, args: 0.1, brownian),
        ),
        diffrax.Euler(),
        t0=0.0,
        t1=1.0,
        dt0=0.05,
        y0=jnp.array(1.0),
    )
    return {
        "ys": solution.ys,
        "steps": solution.stats["num_accepted_steps"],
        "gradient": gradient,
        "backsolve": backsolve(args),
        "noisy": noisy.ys,
    }
