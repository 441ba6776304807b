#!/usr/bin/env bash
# h5py 3.16.0 (HDF5): a dataset of floats with the filter scaleoffset, and a nan in it.
#
# Guess: the nan is kept, as a fill value is, or the write is an error: the filter keeps so many decimal
# digits, and a nan has none.
# Seen: it is read as the smallest number of its chunk, without a word. An infinity is kept, since with
# one the chunk is not packed at all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq h5py==3.16.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import io

import h5py
import numpy as np

print("h5py", h5py.__version__, "HDF5", h5py.version.hdf5_version)
file = h5py.File(io.BytesIO(), "w")


def through(name, *numbers):
    file.create_dataset(name, data=np.array(numbers), chunks=(4,), scaleoffset=2)
    found = file[name][:].tolist()
    print(list(numbers), "->", found)
    return found


nan, inf = np.nan, np.inf
assert through("nan", 1.5, nan, 3.25, -2.0) == [1.5, -2.0, 3.25, -2.0], "changed"
assert through("other", 7.5, 8.0, nan, 9.25) == [7.5, 8.0, 7.5, 9.25], "changed"
assert through("infinity", 1.5, 2.5, 3.5, inf) == [1.5, 2.5, 3.5, inf], "changed"
PYTHON
