#!/usr/bin/env bash
# sparse (PyData) 0.19.3: max, min and argmax along a dimension without elements.
#
# Guess: a ValueError, as in NumPy, since these have no identity.
# Seen: the fill value. An array of 0 x 3 with the fill value 7 has the maxima 7, 7, 7 and the minima
# 7, 7, 7, though it has no element; argmax is 0, a place that there is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq sparse==0.19.3 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import sparse

print("sparse", sparse.__version__)
array = sparse.COO.from_numpy(np.ones((0, 3)), fill_value=7.0)
for name in ("max", "min"):
    found = getattr(array, name)(axis=0).todense().tolist()
    print(f"{name}: {found}")
    assert found == [7, 7, 7], "changed"
places = sparse.argmax(array, axis=0).todense().tolist()
print("argmax:", places)
assert places == [0, 0, 0], "changed"
try:
    np.ones((0, 3)).max(axis=0)
except ValueError as error:
    print("NumPy's max: ValueError,", error)
PYTHON
