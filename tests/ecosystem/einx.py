"""einx: tensor operations by notation, jitted and differentiated."""

import einx
import jax
import jax.numpy as jnp


def run():
    x = jax.random.normal(jax.random.key(0), (2, 6, 8))
    w = jax.random.normal(jax.random.key(1), (8, 12))

    def attention(w):
        q, k, v = jnp.split(einx.dot("b s [c], [c] d -> b s d", x, w), 3, -1)
        q, k, v = (einx.id("b s (h c) -> b s h c", t, h=2) for t in (q, k, v))
        scores = einx.dot("b q h [c], b k h [c] -> b q k h", q, k)
        scores = einx.softmax("b q [k] h", scores)
        return einx.id(
            "b q h c -> b q (h c)", einx.dot("b q [k] h, b [k] h c -> b q h c", scores, v)
        )

    at = einx.get_at("b [s] c, b p -> b p c", x, jnp.array([[0, 3], [5, 1]]))
    return {
        "attention": jax.jit(attention)(w),
        "mean": einx.mean("b [s] c", x),
        "at": at,
        "add": einx.add("b s c, c", x, jnp.arange(8.0)),
        "slope": jax.grad(lambda w: jnp.sum(attention(w) ** 2))(w),
    }
