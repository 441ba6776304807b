#!/usr/bin/env bash
# numexpr 2.14.2: square roots and logarithms of complex numbers below the branch cut.
#
# Guess: as in C and NumPy, the sign of a zero imaginary part says on which side of the cut a number
# is: the root of -4 - 0i is 0 - 2i, and its logarithm has the imaginary part -pi.
# Seen: the logarithm does; the root does not: it is -0 + 2i, that of the other side, with a real part
# of a negative sign, which no principal root has.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq numexpr==2.14.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numexpr
import numpy as np

print("numexpr", numexpr.__version__)
below = np.array([complex(-4.0, -0.0)])
right = np.sqrt(below)[0]
root, logarithm = numexpr.evaluate("sqrt(below)")[0], numexpr.evaluate("log(below)")[0]
print("root", root, "NumPy's", right, "logarithm", logarithm)
assert (right.real, right.imag) == (0.0, -2.0) and not np.signbit(right.real)
assert (root.real, root.imag) == (0.0, 2.0) and np.signbit(root.real), "changed"
assert abs(logarithm.imag + np.pi) < 1e-15, "changed"
PYTHON
