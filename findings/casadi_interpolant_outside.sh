#!/usr/bin/env bash
# CasADi 3.8.2: interpolant("linear") and interpolant("bspline") outside of the grid.
#
# Guess: both hold the last value, or both go on as the last piece does.
# Seen: the linear one goes on as its last piece; the spline falls to zero at the first place outside,
# with derivative zero. Squares on 0 to 3: at 4 they are 14 and 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq casadi==3.8.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import casadi

print("casadi", casadi.__version__)
x = casadi.MX.sym("x")
found = {}
for method in ("linear", "bspline"):
    f = casadi.interpolant("f", method, [[0.0, 1.0, 2.0, 3.0]], [0.0, 1.0, 4.0, 9.0])
    slope = casadi.Function("slope", [x], [casadi.jacobian(f(x), x)])
    found[method] = [round(float(v), 9) for v in (f(2.5), f(3), f(4), f(-1), slope(4))]
    print(f"{method}: at 2.5, 3, 4, -1, slope at 4:", found[method])
assert found["linear"] == [6.5, 9, 14, -1, 5], "changed"
assert found["bspline"] == [6.25, 9, 0, 0, 0], "changed"
PYTHON
