#!/usr/bin/env bash
# CasADi 3.8.2: norm_1, norm_inf and norm_2 of a matrix.
#
# Guess: the norms of operators, as in NumPy, SciPy and MATLAB: of [[1, 2], [3, 4]] they are 6, 7
# and 5.46.
# Seen: norm_1 is 10 and norm_inf is 4: the matrix is read as one long vector. norm_2 of it is an error
# that recommends norm_fro.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq casadi==3.8.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import casadi
import numpy as np

print("casadi", casadi.__version__)
matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
for name, order, known in (("norm_1", 1, 10), ("norm_inf", np.inf, 4)):
    found = float(getattr(casadi, name)(casadi.DM(matrix)))
    print(f"{name}: {found}, NumPy's {np.linalg.norm(matrix, order)}")
    assert found == known, "changed"
try:
    casadi.norm_2(casadi.DM(matrix))
except RuntimeError as error:
    print("norm_2: RuntimeError")
    assert "only supported for vectors" in str(error), "changed"
else:
    raise SystemExit("changed: norm_2 of a matrix is computed")
PYTHON
