"""python -m irax.compat script.py: run a program that imports jax on irax."""

import sys

from irax.compat.running import run

if __name__ == "__main__":
    run(sys.argv[1:])
