#!/usr/bin/env bash
# blosc2 4.14.1: // and % of arrays of integers.
#
# Guess: both are Python's, or both are C's: in either way (a // b) * b + a % b is a.
# Seen: // rounds down, as Python's, and % has the sign of the dividend, as C's. -7 // 2 is -4 and
# -7 % 2 is -1, from which comes -9. So it is for the functions floor_divide and remainder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq blosc2==4.14.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import blosc2
import numpy as np

print("blosc2", blosc2.__version__)
numbers = np.array([-7, 7], np.int32), np.array([2, -2], np.int32)
a, b = map(blosc2.asarray, numbers)
quotients = (a // b).compute()[:], blosc2.floor_divide(a, b)[:], numbers[0] // numbers[1]
remainders = (a % b).compute()[:], blosc2.remainder(a, b)[:], numbers[0] % numbers[1]
print("quotients", *quotients, "remainders", *remainders, "the last are NumPy's")
assert [x.tolist() for x in quotients] == [[-4, -4]] * 3, "changed"
assert [x.tolist() for x in remainders] == [[-1, 1], [-1, 1], [1, -1]], "changed"
PYTHON
