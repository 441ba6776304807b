#!/usr/bin/env bash
# autograd 1.9.1: the gradient of the infinity norm of a vector.
#
# Guess: the sign of the largest element at its place, zero elsewhere, as for max(abs(x)).
# Seen: nan at every element whose magnitude is more than 1, without an error: the rule for the norm
# of order p is applied with p infinite. max(abs(x)), the same function, has the right gradient.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq autograd==1.9.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

import autograd.numpy as np
from autograd import grad

warnings.simplefilter("ignore")
print("autograd", version("autograd"))
x = np.array([0.5, 2.0, -3.0])
norm = grad(lambda x: np.linalg.norm(x, np.inf))(x)
largest = grad(lambda x: np.max(np.abs(x)))(x)
print("norm(x, inf):", norm, "max(abs(x)):", largest)
assert largest.tolist() == [0, 0, -1], "changed"
assert norm[0] == 0 and np.isnan(norm[1:]).all(), "changed"
PYTHON
