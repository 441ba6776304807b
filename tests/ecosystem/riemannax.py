"""riemannax: a point of the sphere and a subspace of a Grassmannian, by Riemannian descent."""

import jax
import jax.numpy as jnp
from manifolds import Grassmann, Sphere, SymmetricPositiveDefinite


def run():
    data = jax.random.normal(jax.random.key(0), (8, 40))
    data = data.at[:3].multiply(4.0)
    manifold = Grassmann(8, 3)

    def lost(x):
        return jnp.sum((data - x @ (x.T @ data)) ** 2) / 40

    @jax.jit
    def step(x):
        slope = manifold.proj(x, jax.grad(lost)(x))
        return manifold.retr(x, -0.02 * slope), lost(x)

    x = jnp.linalg.qr(jax.random.normal(jax.random.key(1), (8, 3)))[0]
    losses = []
    for _ in range(30):
        x, loss = step(x)
        losses.append(loss)
    sphere, target = Sphere(), jnp.array([0.0, 0.6, 0.8])
    y = jnp.array([1.0, 0.0, 0.0])
    for _ in range(20):
        y = sphere.exp(y, 0.2 * sphere.proj(y, target))
    spd = SymmetricPositiveDefinite(3)
    a = jnp.eye(3) + 0.2 * jnp.ones((3, 3))
    b = jnp.diag(jnp.array([1.0, 2.0, 3.0]))
    return {
        "losses": losses,
        "projector": x @ x.T,
        "point": y,
        "distance": sphere.dist(y, target),
        "log": spd.log(a, b),
        "way": spd.dist(a, b),
    }
