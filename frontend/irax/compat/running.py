"""Programs that import jax, run on irax as `python` would run them."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from irax.compat.finder import install

USAGE = "expected SCRIPT.py ARGUMENTS, -m MODULE ARGUMENTS or -c CODE ARGUMENTS"


def run(arguments: list[str]) -> None:
    """Run what Python's command line would run: a script, `-m` and a module, `-c` and code.

    Raises:
        SystemExit: there is nothing to run.
    """
    match arguments:
        case ["-m", module, *rest]:
            install()
            sys.argv = [module, *rest]
            sys.path.insert(0, "")
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            install()
            sys.argv = ["-c", *rest]
            sys.path.insert(0, "")
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        case [script, *rest] if not script.startswith("-"):
            install()
            sys.argv = [script, *rest]
            sys.path.insert(0, str(Path(script).resolve().parent))
            runpy.run_path(script, run_name="__main__")
        case _:
            raise SystemExit(USAGE)
