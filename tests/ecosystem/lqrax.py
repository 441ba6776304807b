"""Lqrax: linear quadratic control along a trajectory, and iterated for a car."""

import jax
import jax.numpy as jnp
from lqrax import LQR, iLQR


class Car(iLQR):
    def dyn(self, xt, ut):
        return jnp.array([ut[0] * jnp.cos(xt[2]), ut[0] * jnp.sin(xt[2]), ut[1]])

    def loss(self, xt, ut, ref):
        return jnp.sum((xt[:2] - ref) ** 2) + 0.01 * jnp.sum(ut**2)


class Line(LQR):
    def dyn(self, xt, ut):
        return jnp.array([xt[2], xt[3], ut[0], ut[1]])


def run():
    T, dt = 40, 0.1
    ref = jnp.stack([jnp.linspace(0, 3, T), jnp.sin(jnp.linspace(0, 3, T))], 1)
    car = Car(dt=dt, x_dim=3, u_dim=2, Q=jnp.eye(3), R=jnp.eye(2))
    u = jnp.tile(jnp.array([0.8, 0.1]), (T, 1))
    x0 = jnp.zeros(3)
    costs = []
    for _ in range(5):
        x, A, B = car.linearize_dyn(x0, u)
        a = jax.vmap(jax.grad(car.loss, 0))(x, u, ref)
        b = jax.vmap(jax.grad(car.loss, 1))(x, u, ref)
        v, _ = car.solve(A, B, a, b)
        costs.append(jnp.sum(jax.vmap(car.loss)(x, u, ref)))
        u = u + 0.1 * v
    line = Line(
        dt=dt, x_dim=4, u_dim=2, Q=jnp.diag(jnp.array([10.0, 10.0, 1.0, 1.0])), R=0.1 * jnp.eye(2)
    )
    ref4 = jnp.concatenate([ref, jnp.zeros((T, 2))], 1)
    x, A, B = line.linearize_dyn(jnp.zeros(4), jnp.zeros((T, 2)))
    return {"costs": jnp.stack(costs), "u": u, "lqr": line.solve(jnp.zeros(4), A, B, ref4)}
