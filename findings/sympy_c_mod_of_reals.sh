#!/usr/bin/env bash
# SymPy 1.14.0: C code for Mod of a real number.
#
# Guess: code whose value is Mod's, 2 for Mod(-1, 3): the sign is the divisor's, and for integers the
# printer writes ((i % 3) + 3) % 3 to have it so.
# Seen: for a real symbol it is fmod(x, 3), which is -1. C++ is the same; the printers of Julia, Octave
# and Rust keep the sign. frac(x), which is Mod(x, 1), is right in C.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq sympy==1.14.0
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import subprocess
import sys

import sympy

folder = sys.argv[1]
x, i = sympy.Symbol("x", real=True), sympy.Symbol("i", integer=True)
PROGRAM = """
#include <math.h>
#include <stdio.h>
int main(void) {{ double x = -1; int i = -1; printf("%g %g %g", {}, (double)({}), {}); }}
"""
code = [sympy.ccode(e) for e in (sympy.Mod(x, 3), sympy.Mod(i, 3), sympy.frac(x / 4))]
print("sympy", sympy.__version__, code)
with open(f"{folder}/mod.c", "w") as file:
    file.write(PROGRAM.format(*code))
subprocess.run(["cc", f"{folder}/mod.c", "-o", f"{folder}/mod", "-lm"], check=True)
printed = subprocess.run([f"{folder}/mod"], capture_output=True, text=True, check=True).stdout
print("C:", printed, " SymPy:", sympy.Mod(-1, 3), sympy.Mod(-1, 3), sympy.Float(3) / 4)
assert printed.split() == ["-1", "2", "0.75"], "changed"
assert code[0] == "fmod(x, 3)", "changed"
assert float(sympy.Mod(sympy.Float(-1), 3)) == 2, "changed"
assert "floor" in sympy.julia_code(sympy.Mod(x, 3)), "changed"
PYTHON
