#!/usr/bin/env bash
# optree 0.20.0: optree.integrations.numpy.tree_ravel of integers beside floats.
#
# Guess: what the returned function unravels has the values and dtypes that were given, or there is an
# error where one dtype cannot hold all.
# Seen: the vector is float64, and the integers are cast to it and back without a word: 2^53 + 1 of
# int64 comes back as 2^53, with the dtype int64. The same beside uint64, which has no float in it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq optree==0.20.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import optree
from optree.integrations.numpy import tree_ravel

print("optree", optree.__version__)
integer = 2**53 + 1
for dtype in (np.float32, np.uint64):
    vector, unravel = tree_ravel({"count": np.array([integer]), "other": np.ones(1, dtype)})
    back = unravel(vector)["count"]
    print(f"beside {np.dtype(dtype)}: {vector.dtype}; {integer} comes back as {back[0]}, {back.dtype}")
    assert vector.dtype == np.float64 and back.dtype == np.int64, "changed"
    assert back[0] == integer - 1, "changed"
vector, unravel = tree_ravel({"count": np.array([integer]), "other": np.ones(1, np.int8)})
assert unravel(vector)["count"][0] == integer, "changed: integers alone"
PYTHON
