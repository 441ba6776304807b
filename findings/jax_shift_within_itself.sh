#!/usr/bin/env bash
# JAX 0.10.2 on a CPU: jit of a function that moves a computed array by one place within itself.
#
# Guess: s = cumsum(x); s.at[1:].set(s[:-1]) is (s0, s0, s1, s2, ...) with jit and without.
# Seen: with jit it is s0 everywhere, without a warning, and so for a gather x[i] and for sums of windows.
# XLA writes the update over the buffer it is read from, from the first element on. An array that is an
# argument is right, and so is a move the other way, s.at[:-1].set(s[1:]). 0.12.0.1 does the same.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jax==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PYTHON'
import jax
import jax.numpy as jnp
import numpy as np

x, i = np.arange(1.0, 9.0, dtype=np.float32), np.arange(8)[::-1].copy()


def moved(s):
    return s.at[1:].set(s[:-1])


def back(s):
    return s.at[:-1].set(s[1:])


functions = {
    "cumsum": (lambda x, i: moved(jnp.cumsum(x)), True),
    "gather": (lambda x, i: moved(x[i]), True),
    "argument": (lambda x, i: moved(x), False),
    "cumsum, back": (lambda x, i: back(jnp.cumsum(x)), False),
}
print("jax", jax.__version__)
for name, (function, is_wrong) in functions.items():
    right = np.asarray(function(jnp.asarray(x), jnp.asarray(i)))
    found = np.asarray(jax.jit(function)(x, i))
    print(f"{name}: {right.tolist()}, with jit {found.tolist()}")
    assert np.array_equal(found, right) != is_wrong, "changed"
    if is_wrong:
        assert (found == right[0]).all(), "changed"
PYTHON
