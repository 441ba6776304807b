"""Communication between the ranks of a program that runs on several devices.

A rank is one of the N runs of such a program: a thread of this process (`threads.py`) or a process
of an MPI job (`mpi.py`). Compiled programs call the collectives as host functions
(`collectives.py`), which ask for the communicator of the calling thread (`current.py`).
"""
