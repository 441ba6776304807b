#!/usr/bin/env bash
# JAX 0.10.2: a sparse array of booleans, jax.experimental.sparse.BCOO.
#
# Guess: BCOO.fromdense and todense keep the booleans, also under jit; or they are refused.
# Seen: fromdense gives an array of int32. Under jit it is said to be of bool, and the program does not
# verify: a ValueError of the lowering. A BCOO made of booleans and indices is one of bool, and its
# todense and sum are TypeErrors: "add does not accept dtype bool". int8 is kept.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jax==0.10.2 jaxlib==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PYTHON'
import jax
import jax.numpy as jnp
from jax.experimental.sparse import BCOO

print("jax", jax.__version__)
x = jnp.array([True, False, True])
for dense in (x, x.astype(jnp.int8)):
    print(f"fromdense of {dense.dtype}: {BCOO.fromdense(dense).dtype}")
assert BCOO.fromdense(x).dtype == jnp.int32, "changed"
assert BCOO.fromdense(x.astype(jnp.int8)).dtype == jnp.int8, "changed"


def error_of(function, argument):
    try:
        function(argument)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    raise SystemExit("changed: no error")


under_jit = error_of(jax.jit(lambda a: BCOO.fromdense(a, nse=2)), x)
made = BCOO((jnp.array([True, True]), jnp.array([[0], [2]])), shape=(3,))
todense = error_of(lambda a: a.todense(), made)
print("fromdense under jit:", under_jit)
print(f"todense of a BCOO of {made.dtype}:", todense)
assert under_jit.startswith("ValueError: Cannot lower jaxpr with verifier errors"), "changed"
assert todense.startswith("TypeError: add does not accept dtype bool"), "changed"
PYTHON
