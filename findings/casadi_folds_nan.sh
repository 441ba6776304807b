#!/usr/bin/env bash
# CasADi 3.8.2: expressions that are built to find or keep a nan.
#
# Guess: x != x is true for nan; sqrt(x)^2 of a negative number, 0 * x of infinity and x / x of zero are
# nan.
# Seen: they are simplified as they are built, for SX and MX: x != x is the constant 0, sqrt(x)^2 is x,
# 0 * x is 0, x / x is 1. Only what the simplifications do not know, exp(log(x)), is nan at -1. DM
# computes with numbers, and has nan for sqrt(x)^2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq casadi==3.8.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import casadi
import numpy as np

print("casadi", casadi.__version__)
cases = {
    "x != x": (lambda x: x != x, np.nan, 0),
    "sqrt(x)^2": (lambda x: casadi.sqrt(x) ** 2, -1, -1),
    "0 * x": (lambda x: 0 * x, np.inf, 0),
    "x / x": (lambda x: x / x, 0, 1),
    "exp(log(x))": (lambda x: casadi.exp(casadi.log(x)), -1, np.nan),
}
for kind in (casadi.SX, casadi.MX):
    x = kind.sym("x")
    for name, (build, at, known) in cases.items():
        expression = build(x)
        value = float(casadi.Function("f", [x], [expression])(at))
        print(f"{kind.__name__} {name} is {expression}; at {at}: {value}")
        assert np.array_equal(value, known, equal_nan=True), "changed"
assert np.isnan(float(casadi.sqrt(casadi.DM(-1)) ** 2)), "changed: DM"
PYTHON
