"""asdex: sparsity patterns read from jaxprs, colors, sparse Jacobians and Hessians."""

import asdex
import jax
import jax.numpy as jnp
from jax import lax


def grid(u):
    p = jnp.pad(u, 1)
    return 4 * u - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:] - jnp.exp(u)


def net(x):
    kernel = jax.random.normal(jax.random.key(0), (3, 1, 3, 3))
    y = lax.conv_general_dilated(x[None, None], kernel, (2, 2), "SAME")
    return jnp.tanh(y)[0].reshape(3, -1) @ jnp.ones(y.size // 3)


def indexed(x):
    picked = x[jnp.array([3, 1, 1])] * x[-1]
    written = x.at[jnp.array([0, 2])].set(jnp.sin(x[:2]))
    return jnp.concatenate([picked, written, jnp.cumsum(x[:3]), jnp.sort(x[4:])])


def total(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def run():
    u = 0.1 * jnp.arange(12.0).reshape(3, 4)
    x = jnp.linspace(0.5, 2.0, 8)
    found = {}
    for name, f, given in (("grid", grid, u), ("net", net, u), ("indexed", indexed, x)):
        pattern = asdex.jacobian_sparsity(f, given)
        coloring = asdex.jacobian_coloring_from_sparsity(pattern)
        matrix = asdex.jacobian_from_coloring(f, coloring)(given)
        found[name] = [pattern.nnz, coloring.num_colors, matrix.todense()]
    segments = jnp.array([0, 0, 1, 1, 2, 2, 0, 1])
    sums = asdex.jacobian_sparsity(lambda x: jax.ops.segment_sum(x, segments, 3), x)
    found["segments"] = sums.todense()
    both = asdex.value_and_jacobian(indexed, x)(x)
    found["value"] = [both[0], both[1].todense()]
    hessian = jax.jit(asdex.hessian(total, x))(x)
    return {**found, "hessian": hessian.todense(), "elements": hessian.nse, **by_steps(x)}


def by_steps(x):
    """The other public functions: colors, products of them, and elements from these."""
    pattern, of_hessian = asdex.jacobian_sparsity(indexed, x), asdex.hessian_sparsity(total, x)
    coloring, symmetric = asdex.jacobian_coloring(indexed, x), asdex.hessian_coloring(total, x)
    products = asdex.compressed_jacobian_from_coloring(indexed, coloring)(x)
    value, again = asdex.value_and_compressed_jacobian_from_coloring(indexed, coloring)(x)
    both = asdex.value_and_hessian_from_coloring(total, symmetric)(x)
    return {
        "colors": [asdex.color_cols(pattern), asdex.color_rows(pattern), coloring.num_colors],
        "symmetric": [asdex.color_symmetric(of_hessian)[0], symmetric.num_colors],
        "products": [products, value, again],
        "elements of products": asdex.decompress(products, coloring).todense(),
        "data of products": asdex.decompress_data(products, coloring),
        "products of a Hessian": asdex.compressed_hessian_from_coloring(total, symmetric)(x),
        "value and Hessian": [both[0], both[1].todense()],
    }
