#!/usr/bin/env bash
# JAX 0.10.2: the gradient of a vmap of a custom_vjp function, one of whose results does not depend
# on the mapped argument.
#
# Guess: the gradient is that of the same function without the rule, which the rule states exactly.
# Seen: 33 in place of 15. The result that is the same in all lanes is returned once; its cotangent is
# the sum over the lanes, and the backward rule is then run in each lane with that sum: three lanes
# count it nine times. Without the rule, or with a result that depends on the mapped argument (by
# adding 0 * x), the gradient is 15. Under jit it is the same; no warning is given.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PYTHON'
import jax
import jax.numpy as jnp


def plain(x, y):
    return x * y, 3.0 * y


def with_rule(function):
    ruled = jax.custom_vjp(function)
    ruled.defvjp(
        lambda x, y: (function(x, y), (x, y)),
        lambda saved, cts: (cts[0] * saved[1], cts[0] * saved[0] + 3.0 * cts[1]),
    )
    return ruled


def gradient(function):
    def total(y):
        a, b = jax.vmap(lambda x: function(x, y))(jnp.array([1.0, 2.0, 3.0]))
        return a.sum() + b.sum()

    return float(jax.grad(total)(2.0)), float(jax.jit(jax.grad(total))(2.0))


found = {
    "without a rule": gradient(plain),
    "with its rule": gradient(with_rule(plain)),
    "with its rule, all results mapped": gradient(
        with_rule(lambda x, y: (x * y, 3.0 * y + 0.0 * x))
    ),
}
for name, values in found.items():
    print(f"{name}: {values}")
assert list(found.values()) == [(15.0, 15.0), (33.0, 33.0), (15.0, 15.0)], "changed"
PYTHON
