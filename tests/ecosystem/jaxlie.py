"""jaxlie: rotations and rigid motions, and optimization on their manifolds."""

import jax
import jax.numpy as jnp
import jaxlie


def run():
    w = jax.random.normal(jax.random.key(0), (5, 6)) * 0.3
    poses = jax.vmap(jaxlie.SE3.exp)(w)
    point = jnp.array([0.1, 0.2, 0.3])
    moved = jax.vmap(lambda p: p.apply(point))(poses)
    back = jax.vmap(lambda p: (p @ p.inverse()).log())(poses)

    def loss(pose):
        return jnp.sum((pose.apply(point) - jnp.array([1.0, 0.0, -0.5])) ** 2)

    @jax.jit
    def step(pose):
        return jaxlie.manifold.rplus(pose, -0.1 * jaxlie.manifold.grad(loss)(pose))

    pose = jaxlie.SE3.identity()
    for _ in range(10):
        pose = step(pose)
    rotation = jaxlie.SO3.from_rpy_radians(0.1, 0.2, 0.3)
    jacobian = jax.jacfwd(lambda v: jaxlie.SO3.exp(v).as_matrix())(jnp.array([0.1, 0.0, 0.2]))
    return {
        "moved": moved,
        "back": back,
        "pose": pose.wxyz_xyz,
        "matrix": rotation.as_matrix(),
        "jacobian": jacobian,
        "adjoint": jaxlie.SE2.exp(jnp.array([0.1, 0.2, 0.3])).adjoint(),
    }
