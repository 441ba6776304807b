"""Programs that import jax, run on irax as `python` would run them."""

from __future__ import annotations

import linecache
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NoReturn
from zipfile import is_zipfile

from irax.compat.finder import install
from irax.core.tracebacks import hide_frames, raised_by_irax

_WITH_VALUE = "WX"
"""Options of Python's that a value follows."""
_PROGRAM = "cm"
"""Options of Python's that tell the program: what follows them is the program's own."""
_IN_FRONT = (__file__, runpy.__file__, "<frozen runpy>")
"""Files whose frames stand above the program's in its tracebacks."""
_MISUSE, _INTERRUPTED = 2, 130


def run(arguments: Sequence[str], again: Sequence[str] = ("-m", "irax.compat")) -> None:
    """Run what Python's command line would run: a script, `-m` and a module, `-c` and code, or `-`
    and what standard input has; after options of Python's own, if there are any.

    Args:
        arguments: those of the command line.
        again: what Python runs, before the program, if it has to start anew for its own options.

    Raises:
        SystemExit: the program ended by it, or by another exception, whose traceback is written.
    """
    options, program = split(arguments)
    if options:  # they are read when Python starts
        _start_python([*options, *again, *program])
    install()
    try:
        _run(program)
    except SystemExit:
        raise
    except BaseException as error:
        error.with_traceback(_of_program(error.__traceback__))
        if raised_by_irax(error):  # by a function that is no boundary, too
            hide_frames(error)
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(_INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1) from None


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return Python's own options, and the program with its arguments.

    >>> split(["-W", "ignore", "-um", "timeit", "-n1"])
    (['-W', 'ignore', '-u'], ['-m', 'timeit', '-n1'])
    """
    options: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        letters = "" if word.startswith("--") else word[1:]
        told = next((i for i, letter in enumerate(letters) if letter in _WITH_VALUE + _PROGRAM), -1)
        if told >= 0 and letters[told] in _PROGRAM:
            if told:
                options.append("-" + letters[:told])
            value = letters[told + 1 :]
            return options, ["-" + letters[told], *([value] if value else []), *rest]
        options.append(word)
        takes_next = word == "--check-hash-based-pycs" or 0 <= told == len(letters) - 1
        if takes_next and rest:
            options.append(rest.pop(0))
    return options, rest


def _start_python(arguments: list[str]) -> NoReturn:
    """Run Python in the place of this process, or as the last thing that it does."""
    command = [sys.executable, *arguments]
    if os.name != "posix":
        raise SystemExit(subprocess.call(command))
    sys.stdout.flush()
    os.execv(sys.executable, command)


def _run(program: list[str]) -> None:
    match program:
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            _search_first(str(Path.cwd()))
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            _search_first("")
            if sys.version_info >= (3, 13):  # its tracebacks show the lines of such code
                linecache.cache["<string>"] = (len(code), None, code.splitlines(True), "<string>")
            _execute(code, "<string>", ["-c", *rest])
        case [("-c" | "-m") as option]:
            _refuse(f"argument expected for the {option} option", _MISUSE)
        case ["-", *rest]:
            _search_first("")
            _execute(sys.stdin.read(), "<stdin>", ["-", *rest])
        case [script, *_] if Path(script).is_dir() and not [*Path(script).glob("__main__.*")]:
            _refuse(f"can't find '__main__' module in {script!r}", 1)
        case [script, *rest] if Path(script).is_dir() or is_zipfile(script):
            sys.argv = [script, *rest]
            runpy.run_path(script, run_name="__main__")
        case [script, *rest]:
            _search_first(str(Path(script).resolve().parent))
            try:
                source = Path(script).read_bytes()
            except OSError as error:
                _refuse(f"can't open file {script!r}: {error.strerror}", _MISUSE)
            _execute(source, str(Path(script).absolute()), [script, *rest])
        case _:
            _refuse(
                "expected SCRIPT.py ARGUMENTS, -m MODULE ARGUMENTS, -c CODE ARGUMENTS, or - for "
                "standard input",
                _MISUSE,
            )


def _search_first(folder: str) -> None:
    """Let imports look into a folder first, unless Python was told not to (`-P`, `-I`)."""
    if not sys.flags.safe_path:
        sys.path.insert(0, folder)


def _execute(source: str | bytes, file: str, argv: list[str]) -> None:
    """Run source text as the module `__main__`, which stays: threads, pickles and functions that
    run at the end look its names up.
    """
    sys.argv = argv
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=__builtins__, __spec__=None)
    if not file.startswith("<"):
        main.__file__ = file
    sys.modules["__main__"] = main
    exec(compile(source, file, "exec", dont_inherit=True), main.__dict__)


def _of_program(frames: TracebackType | None) -> TracebackType | None:
    """Return the frames of a traceback from the program's first one on."""
    while frames is not None and frames.tb_frame.f_code.co_filename in _IN_FRONT:
        frames = frames.tb_next
    return frames


def _refuse(problem: str, status: int) -> NoReturn:
    print(f"irax python: {problem}", file=sys.stderr)
    raise SystemExit(status)
