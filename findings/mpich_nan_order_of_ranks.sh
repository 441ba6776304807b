#!/usr/bin/env bash
# MPICH 5.0.2 with mpi4py 4.1.2: Allreduce with MPI.MAX and MPI.MIN, where one rank has a nan.
#
# Guess: all ranks get one result, nan or the number, whichever of them has the nan.
# Seen: each rank gets what the other one has: of (nan, 1), rank 0 gets 1 and rank 1 gets nan, for MAX
# and MIN alike. Reduce gives rank 0 the last rank's value. The maximum of 0 and -0 goes the same way.
# So a test of the result for convergence may end the loop on one rank alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq mpi4py==4.1.2 mpich==5.0.2 numpy==2.4.6
"$folder/venv/bin/python" -c "from mpi4py import MPI; print(MPI.Get_library_version().split(chr(10))[0])"
cat > "$folder/largest.py" <<'PYTHON'
import numpy as np
from mpi4py import MPI

nan, world = np.nan, MPI.COMM_WORLD
for op, name in ((MPI.MAX, "MAX"), (MPI.MIN, "MIN")):
    for pair in ((nan, 1.0), (1.0, nan), (0.0, -0.0), (-0.0, 0.0)):
        found, one = np.zeros(1), np.zeros(1)
        world.Allreduce(np.array([pair[world.rank]]), found, op)
        world.Reduce(np.array([pair[world.rank]]), one, op, root=0)
        every = world.allgather(float(found[0]))
        if world.rank == 0:
            print(name, pair, "-> Allreduce", every, "Reduce", one[0])
            known = [*pair[::-1], pair[1]]
            assert np.array_equal([*every, one[0]], known, equal_nan=True), "changed"
            signs = np.signbit(known) | np.isnan(known)
            assert np.array_equal(np.signbit([*every, one[0]]) | np.isnan(known), signs), "changed"
PYTHON
timeout 120 "$folder/venv/bin/mpiexec" -n 2 "$folder/venv/bin/python" "$folder/largest.py"
