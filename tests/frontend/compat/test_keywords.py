"""Keywords of JAX's that say where arrays are, and how products are computed."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp


def test_shardings_are_accepted_as_none():
    key = irax.random.key(0)
    assert irax.random.normal(key, (2,), out_sharding=None).shape == (2,)
    assert irax.lax.full((2,), 1, sharding=None).shape == (2,)
    assert irax.lax.reduce_sum(jnp.ones(2), (0,), out_sharding=None) == 2
    for call in (
        lambda: irax.random.uniform(key, out_sharding=1),
        lambda: irax.lax.reshape(jnp.ones(2), (1, 2), out_sharding=1),
        lambda: irax.lax.full_like(jnp.ones(2), 1, sharding=1),
        lambda: jnp.ones(2).at[0].set(1.0, out_sharding=1),
        lambda: jnp.ones(2).reshape(1, 2, out_sharding=1),
    ):
        with pytest.raises(TypeError, match="expected a sharding or a PartitionSpec, got 1"):
            call()


def test_einsum_multiplies_by_a_product_of_the_users():
    calls = []

    def product(x, y, dimension_numbers, precision=None, preferred_element_type=None):
        calls.append(dimension_numbers)
        return 2 * irax.lax.dot_general(x, y, dimension_numbers, precision, preferred_element_type)

    x = np.ones((2, 3), np.float32)
    found = jnp.einsum("ij,kj,kl->il", x, x, x, _dot_general=product, optimize=False)
    np.testing.assert_array_equal(found, 4 * x @ x.T @ x)
    assert len(calls) == 2
