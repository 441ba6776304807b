"""jaxtyping: annotations of shapes and dtypes, checked when functions are called."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree, jaxtyped


def is_pair(x: object) -> bool:
    return isinstance(x, Float[Array, "n n"])


@jaxtyped(typechecker=None)
def product(x: Float[Array, "a b"], y: Float[Array, "b c"]) -> Float[Array, "a c"]:
    assert isinstance(x, Float[Array, "a b"])
    assert isinstance(y, Float[Array, "b c"])
    return x @ y


def run():
    x = jnp.arange(6.0).reshape(2, 3)
    failed = 0
    try:
        product(x, x)
    except Exception:
        failed = 1
    return {
        "pairs": [is_pair(jnp.eye(2)), is_pair(x), is_pair(jnp.arange(4))],
        "tree": [isinstance([x, x], PyTree[Float[Array, "..."]]), isinstance(1, Int[Array, ""])],
        "traced": jax.jit(product)(x, x.T),
        "failed": failed,
    }
