#!/usr/bin/env bash
# zfpy 1.0.1: an array with a nan, compressed with a tolerance.
#
# Guess: an error, since no tolerance can be kept, or a nan at its place when it is decompressed.
# Seen: a finite number, and no word: the nan among numbers from 0 to 1 becomes 1 or -1, by the
# parameters: nan has the exponent of its block's largest number. The other elements of the block are
# within the tolerance. Without parameters, which is lossless, the nan is kept to the last bit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq zfpy==1.0.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
from importlib import metadata

import numpy as np
import zfpy

x = np.linspace(0, 1, 64).reshape(8, 8)
x[3, 3] = np.nan


def through(**parameters):
    return zfpy.decompress_numpy(zfpy.compress_numpy(x, **parameters))


print("zfpy", metadata.version("zfpy"))
for parameters in ({"tolerance": 1e-6}, {"rate": 16}, {"precision": 30}):
    found = through(**parameters)
    rest = np.abs(found - x)[~np.isnan(x)].max()
    print(parameters, "nan ->", found[3, 3], " the others are within", rest)
    assert np.isfinite(found).all(), "changed"
    assert abs(abs(found[3, 3]) - 1) < 1e-4, "changed"
    assert rest < 1e-4, "changed"
assert np.array_equal(through().view(np.int64), x.view(np.int64)), "changed"
PYTHON
