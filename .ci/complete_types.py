"""Check that the public names of irax keep their complete types.

    python .ci/complete_types.py

A name is complete when its type is annotated and known. Those that are not take or return what the
MLIR bindings have, which ship without types, or are of a file that is not annotated yet.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

LEAST = 0.985
"""The part of the names that is complete: it may grow, and then this is to grow with it."""

INTERNAL = ("irax.core.", "irax.execution.", "irax.transforms.")
"""The rooms whose names users do not import."""

root = Path(__file__).resolve().parent.parent
folders = [str(root / name) for name in ("frontend", "compiler", "runtime", "tools")]
executables = Path(sys.executable).parent
# With --verifytypes the checker ignores --pythonpath: it asks the `python` of PATH for installed
# packages, and does not see editable installations but by PYTHONPATH.
environment = {
    **os.environ,
    "PATH": os.pathsep.join([str(executables), os.environ["PATH"]]),
    "PYTHONPATH": os.pathsep.join(folders),
}

report = subprocess.run(
    [executables / "basedpyright", "--verifytypes", "irax", "--ignoreexternal", "--outputjson"],
    capture_output=True,
    text=True,
    check=False,
    env=environment,
)
symbols = [
    symbol
    for symbol in json.loads(report.stdout)["typeCompleteness"]["symbols"]
    if symbol["isExported"] and not symbol["name"].startswith(INTERNAL)
]
incomplete = [symbol["name"] for symbol in symbols if not symbol["isTypeKnown"]]
score = 1 - len(incomplete) / len(symbols)
print(f"{score:.1%} of irax's {len(symbols)} public names have complete types")
if score < LEAST:
    for name in incomplete:
        print(f"incomplete type: {name}")
    sys.exit(f"expected {LEAST:.1%}")
