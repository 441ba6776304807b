#!/usr/bin/env bash
# gguf 0.19.0: a block of Q4_0 with 1 and -1.
#
# Guess: both are the largest in magnitude, so both come back alike: 1 and -1, or 0.875 and -0.875.
# Seen: the one that stands first is exact, and the other one is 0.875 of it: the scale is the first
# largest number by -8, and eight steps to the other side are one too many for 4 bits. In the other
# order of the same numbers the other one loses. Q5_0 does so with 15/16; Q8_0 does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq gguf==0.19.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
from importlib import metadata

import numpy as np
from gguf import GGMLQuantizationType, quants


def through(name, first):
    kind = GGMLQuantizationType[name]
    x = np.zeros((1, 32), np.float32)
    x[0, :2] = first, -first
    return quants.dequantize(quants.quantize(x, kind), kind)[0, :2].tolist()


print("gguf", metadata.version("gguf"))
for name, other in (("Q4_0", 7 / 8), ("Q5_0", 15 / 16)):
    for first in (1.0, -1.0):
        found = through(name, first)
        print(name, [first, -first], "->", found)
        assert found == [first, -first * other], "changed"
found = through("Q8_0", 1.0)
print("Q8_0", [1.0, -1.0], "->", found)
assert found[0] == -found[1], "changed"
PYTHON
