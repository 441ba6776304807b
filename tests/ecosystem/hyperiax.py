"""Hyperiax: messages from the leaves of a tree to its root, and gradients."""

import hyperiax as hx
import jax
import jax.numpy as jnp


def run():
    top = hx.symmetric_topology(depth=3, degree=2)
    leaves = int(top.is_leaf.sum())

    @hx.up(reads_children=("value",), writes=("value",))
    def average(node, children, params):
        return {"value": children.value.mean(0) * params["a"]}

    def root(v, a):
        tree = hx.Tree.empty(top, {"value": (2,)})
        tree = tree.at[top.is_leaf].set(value=v)
        return average(tree, params={"a": a})

    v = jnp.arange(2.0 * leaves).reshape(leaves, 2)
    r = root(v, 1.1)
    return {
        "value": r.value,
        "grad": jax.grad(lambda v: jnp.sum(root(v, 1.1).value[0] ** 2))(v),
        "da": jax.jit(jax.grad(lambda a: jnp.sum(root(v, a).value[0])))(1.1),
    }
