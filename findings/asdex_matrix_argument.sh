#!/usr/bin/env bash
# asdex 0.5.1 on JAX 0.10.2: a sparse Jacobian of a function of a matrix.
#
# Guess: the size that 32-bit places allow is that of the arrays, 2^31 elements.
# Seen: it is that of the Jacobian as if it were dense. For a grid of 216 x 216, the Jacobian has
# 230,000 elements and 46656 x 46656 places, more than 2^31: a ValueError of ravel_multi_index, after
# the pattern and its colors were found. The same function of a vector of 46656 elements works: the
# Jacobian of an argument of one dimension needs no reshape of the sparse matrix, which is what
# flattens places.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq asdex==0.5.1 jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PYTHON'
import asdex
import jax.numpy as jnp


def grid(u):
    p = jnp.pad(u, 1)
    return 4 * u - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]


def elements(f, x):
    coloring = asdex.jacobian_coloring_from_sparsity(asdex.jacobian_sparsity(f, x))
    return asdex.jacobian_from_coloring(f, coloring)(x).nse


def flat(n):
    return lambda x: grid(x.reshape(n, n)).reshape(-1)


print("matrix of 215 x 215:", elements(grid, jnp.ones((215, 215))))
print("vector of 216 * 216:", elements(flat(216), jnp.ones(216 * 216)))
try:
    elements(grid, jnp.ones((216, 216)))
except ValueError as error:
    assert "not large enough to hold flattened index for dims=(46656, 46656)" in str(error)
    print("matrix of 216 x 216: ValueError")
else:
    raise SystemExit("changed: a matrix of 216 x 216 works")
PYTHON
