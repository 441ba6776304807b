"""Check that the public names of irax keep their complete types.

    python .ci/complete_types.py

A name is complete when its type is annotated and known. Those that are not take or return what the
MLIR bindings have, which ship without types, or are of a file that is not annotated yet.
"""

import json
import subprocess
import sys
from pathlib import Path

LEAST = 0.964
"""The part of the names that is complete: it may grow, and then this is to grow with it."""

checker = Path(sys.executable).with_name("basedpyright")
asked = ["--verifytypes", "irax", "--ignoreexternal", "--outputjson"]
report = subprocess.run(
    [checker, *asked, "--pythonpath", sys.executable], capture_output=True, text=True, check=False
)
found = json.loads(report.stdout)["typeCompleteness"]
score = found["completenessScore"]
if score < LEAST:
    for symbol in found["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            print(f"incomplete type: {symbol['name']}")
    sys.exit(f"{score:.1%} of irax's public names have complete types; expected {LEAST:.1%}")
