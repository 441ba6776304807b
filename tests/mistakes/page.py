"""Writes docs/reports/mistakes.md, messages of irax and of JAX about wrong programs:

python -m tests.mistakes.page JAXS_PYTHON
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.mistakes import saying
from tests.mistakes.programs import MISTAKES

PAGE = Path(__file__).parents[2] / "docs" / "reports" / "mistakes.md"
_LONGEST = 600
_ADDRESS = re.compile(r"\b(0x[0-9a-f]{8,}|\d{12,})\b")
_HEAD = """# Messages beside JAX's

What irax and JAX {version} say of {count} wrong programs, in the words of the exception;
`python -m tests.mistakes.page` writes this page. Longer messages are cut. `jnp`, `lax` and `np` are
the usual names. The traceback around both shows the line, too; irax's ends with the section of
[Errors](../errors.md), where there is one.
"""


def of_jax(python: str) -> tuple[str, list[str | None]]:
    """Return the version of the JAX that a Python has, and what that says of each program."""
    programs = json.dumps([m.code for m in MISTAKES])
    version = "import jax; print(jax.__version__)"
    told = subprocess.run([python, "-c", version], capture_output=True, text=True, check=True)
    command = [python, str(Path(saying.__file__)), "jax"]
    done = subprocess.run(command, input=programs, capture_output=True, text=True, check=True)
    return told.stdout.strip(), json.loads(done.stdout)


def cut(text: str | None) -> str:
    """Return a message of a length for reading, without addresses, which change."""
    if text is None:
        return "(no error)"
    text = _ADDRESS.sub("...", "\n".join(line.rstrip() for line in text.strip().splitlines()))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} ..."


def written(python: str) -> str:
    """Return the page."""
    version, theirs = of_jax(python)
    parts = [_HEAD.format(version=version, count=len(MISTAKES))]
    for mistake, other in zip(MISTAKES, theirs, strict=True):
        ours = saying.said(mistake.code, "irax")
        title = mistake.title[0].upper() + mistake.title[1:]
        blocks = (("py", mistake.code), ("", f"irax\n{cut(ours)}"), ("", f"JAX\n{cut(other)}"))
        text = "\n\n".join(f"```{kind}\n{body}\n```" for kind, body in blocks)
        parts.append(f"## {title}\n\n{text}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written(sys.argv[1]), "utf-8")
