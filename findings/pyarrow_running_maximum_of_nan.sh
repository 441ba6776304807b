#!/usr/bin/env bash
# pyarrow 26.0.1: cumulative_max and cumulative_min of an array that begins with nan.
#
# Guess: nan goes through, or is passed over: nan, 1, 3 has the running maxima nan, nan, nan or
# nan, 1, 3, and the first one is the maximum of the first element in any case.
# Seen: the first is -inf (for minima inf), a number that is not in the array. The maximum of an array
# of nan alone is nan.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq pyarrow==26.0.1
"$folder/venv/bin/python" - <<'PYTHON'
import math

import pyarrow
from pyarrow import compute

print("pyarrow", pyarrow.__version__)
numbers = pyarrow.array([math.nan, 1.0, 3.0])
largest, smallest = (
    f(numbers).to_pylist() for f in (compute.cumulative_max, compute.cumulative_min)
)
first = compute.max(numbers[:1]).as_py()
print("running:", largest, smallest, "maximum of the first:", first)
assert largest == [-math.inf, 1.0, 3.0], "changed"
assert smallest == [math.inf, 1.0, 1.0], "changed"
assert math.isnan(first), "changed"
PYTHON
