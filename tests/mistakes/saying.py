"""Messages of a library about wrong programs, as JSON: python saying.py irax|jax < programs.json"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import linecache
import re
import sys
from typing import Any

_OF_ALL = ("Its cure, with an example", "irax's own frames are hidden", "----", "For simplicity")
"""The beginnings of notes that do not depend on the mistake."""
_FRAME = re.compile(r'^  File "(?!program\.py").*\n(?:    .*\n)*', re.MULTILINE)
"""A frame of a traceback in a message, of a file that is not the program."""


def said(code: str, library: str) -> str | None:
    """Return the class of the exception of a program and its message; None without one."""
    names: dict[str, Any] = {
        "jax": importlib.import_module(library),
        "jnp": importlib.import_module(f"{library}.numpy"),
        "lax": importlib.import_module(f"{library}.lax"),
        "np": importlib.import_module("numpy"),
    }
    importlib.import_module(f"{library}.scipy.optimize")
    linecache.cache["program.py"] = (len(code), None, code.splitlines(keepends=True), "program.py")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "program.py", "exec"), names)
    except Exception as error:
        notes = [n for n in getattr(error, "__notes__", ()) if not n.startswith(_OF_ALL)]
        return "\n".join([f"{type(error).__name__}: {_FRAME.sub('', str(error))}", *notes])
    return None


if __name__ == "__main__":
    json.dump([said(code, sys.argv[1]) for code in json.load(sys.stdin)], sys.stdout)
