#!/usr/bin/env bash
# pyarrow 26.0.1: 0 and -0 in functions that look for equal values.
#
# Guess: they are one value, as == says and as in NumPy; or two, in all of these functions.
# Seen: one value for equal, rank and mode; two for unique, value_counts and is_in, which does not find
# 0 among (-0). nan, which is not equal to itself, is one value in all of these but equal.
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
zeros = pyarrow.array([0.0, -0.0])
one = {
    "equal": compute.equal(zeros[:1], zeros[1:])[0].as_py(),
    "rank": len(set(compute.rank(zeros, tiebreaker="min").to_pylist())) == 1,
    "mode": len(compute.mode(zeros, n=2)) == 1,
    "unique": len(compute.unique(zeros)) == 1,
    "value_counts": len(compute.value_counts(zeros)) == 1,
    "is_in": compute.is_in(zeros[:1], value_set=zeros[1:])[0].as_py(),
}
print("one value:", one)
assert list(one.values()) == [True, True, True, False, False, False], "changed"
nans = pyarrow.array([math.nan, math.nan])
counts = [len(f(nans)) for f in (compute.unique, compute.value_counts, compute.mode)]
found = compute.is_in(nans, value_set=nans).to_pylist()
ranks = compute.rank(nans, tiebreaker="min").to_pylist()
equal = compute.equal(nans[0], nans[1]).as_py()
print("nan:", counts, found, ranks, equal)
assert counts == [1, 1, 1] and found == [True, True] and ranks == [1, 1], "changed"
assert not equal, "changed"
PYTHON
