#!/usr/bin/env bash
# numexpr 2.14.2: arrays of uint64.
#
# Guess: they are computed as uint64, or converted to float64, or refused: numexpr has no unsigned type
# of 64 bits, and uint32 becomes int64 so that nothing is lost.
# Seen: their bits are taken as int64, without a word. 2**63 is less than zero, its product with 1.0 is
# -2**63, and the square root of 2**64 - 1 is nan.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq numexpr==2.14.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numexpr
import numpy as np

print("numexpr", numexpr.__version__)
small = np.array([2**32 - 1], np.uint32)
found = numexpr.evaluate("small + 1")
print("uint32, 2**32 - 1 and 1:", found, found.dtype)
assert found[0] == 2**32 and found.dtype == np.int64, "changed"
large = np.array([2**63, 2**64 - 1], np.uint64)
positive = numexpr.evaluate("large > 0")
product = numexpr.evaluate("large * 1.0")
root = numexpr.evaluate("sqrt(large)")
print("uint64, 2**63 and 2**64 - 1:", positive, product, root)
assert positive.tolist() == [False, False], "changed"
assert product.tolist() == [-(2.0**63), -1.0], "changed"
assert np.isnan(root).all(), "changed"
PYTHON
