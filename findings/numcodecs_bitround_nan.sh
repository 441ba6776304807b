#!/usr/bin/env bash
# numcodecs 0.16.6: BitRound, which keeps some bits of the mantissa, of a nan.
#
# Guess: infinities stay infinities, and nans stay nans.
# Seen: the rounding is a sum on the bits, and no value is left out. The nan whose mantissa is all ones
# carries into the exponent and the sign: it becomes -0, with the sign bit 0. A nan with few bits set
# becomes infinity. With keepbits = 0 the usual nan of NumPy becomes -0 as well. Infinities stay.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq numcodecs==0.16.6 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numcodecs
import numpy as np
from numcodecs.bitround import BitRound

bits = {
    "usual nan": 0x7FC00000,
    "nan, all ones": 0x7FFFFFFF,
    "nan, lowest bit": 0x7F800001,
    "infinity": 0x7F800000,
}
x = np.array(list(bits.values()), np.uint32).view(np.float32)
assert np.isnan(x[:3]).all()


def rounded(keepbits):
    codec = BitRound(keepbits)
    return codec.decode(codec.encode(x.copy())).view(np.uint32).tolist()


print("numcodecs", numcodecs.__version__)
expected = {
    10: [0x7FC00000, 0x80000000, 0x7F800000, 0x7F800000],
    0: [0x80000000, 0x80000000, 0x7F800000, 0x7F800000],
}
for keepbits, known in expected.items():
    found = rounded(keepbits)
    values = np.array(found, np.uint32).view(np.float32).tolist()
    print(f"keepbits = {keepbits}:", dict(zip(bits, values)))
    assert found == known, "changed"
PYTHON
