#!/usr/bin/env bash
# awkward 2.14.0: max and min of lists with nan.
#
# Guess: nan goes through, as in NumPy, or is passed over, with None for a list of nothing else, as
# for an empty list; the same along an axis and of the whole array.
# Seen: of the whole array the maximum is nan. Along an axis nan is passed over, and a list of nan
# alone has the maximum -inf and the minimum inf, which are not in it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq awkward==2.14.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import math

import awkward as ak

print("awkward", ak.__version__)
lists = ak.Array([[math.nan, 1.0], [1.0, math.nan], [], [math.nan]])
whole = ak.max(lists), ak.min(lists)
largest, smallest = (f(lists, axis=1).tolist() for f in (ak.max, ak.min))
print("whole:", *whole, "along the axis:", largest, smallest)
assert all(map(math.isnan, whole)), "changed"
assert largest == [1.0, 1.0, None, -math.inf], "changed"
assert smallest == [1.0, 1.0, None, math.inf], "changed"
PYTHON
