"""The debugger of `irax.debug.breakpoint`: looks at the variables of functions that are compiled.

When the function is traced, each frame of the user's is kept as a `Place`: its variables, in which
arrays that are traced are operands of a callback. When that runs, they have values, and the user
gives commands, which are those of Python's pdb.
"""

from __future__ import annotations

import bdb
import cmd
import linecache
import pprint
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, TextIO

from irax import tree_util
from irax.core import source
from irax.core.tracing import Tracer

AROUND = 5
"""The lines that `list` shows on each side."""


@dataclass(frozen=True)
class Place:
    """A frame as it was when the function was traced."""

    file: str
    line: int
    function: str
    known: Mapping[str, Any]
    """The variables that are not traced, those of the module included."""

    def __str__(self) -> str:
        return f"{self.file}({self.line}){self.function}()"

    def lines(self) -> Iterator[str]:
        """Return the lines of the file around the place."""
        lines = linecache.getlines(self.file)
        for n in range(max(1, self.line - AROUND), min(len(lines), self.line + AROUND) + 1):
            yield f"{n:4} {'->' if n == self.line else '  '} {lines[n - 1].rstrip()}"


def places(
    frame: FrameType | None, most: int | None, filter_frames: bool
) -> tuple[list[Place], list[dict[str, Any]]]:
    """Return the places of a frame and of its callers, and the traced variables of each."""
    found: list[Place] = []
    traced: list[dict[str, Any]] = []
    while frame is not None and (most is None or len(found) < most):
        code = frame.f_code
        if not (filter_frames and source.is_internal(code.co_filename)):
            unknown = {name: x for name, x in frame.f_locals.items() if _is_traced(x)}
            known = {n: x for n, x in frame.f_locals.items() if n not in unknown}
            variables = {**frame.f_globals, **known}
            found.append(Place(code.co_filename, frame.f_lineno, code.co_name, variables))
            traced.append(unknown)
        frame = frame.f_back
    return found, traced


def _is_traced(x: Any) -> bool:
    try:
        with warnings.catch_warnings():  # of generators, which are leaves
            warnings.simplefilter("ignore")
            return any(isinstance(leaf, Tracer) for leaf in tree_util.tree_leaves(x))
    except (TypeError, ValueError):  # no pytree, such as a dict of keys that have no order
        return False


class Debugger(cmd.Cmd):
    """Reads commands until one of them goes on."""

    prompt = "(irax) "

    def __init__(
        self, places: Sequence[Place], stdin: TextIO | None = None, stdout: TextIO | None = None
    ) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self._places = places
        self._values: Sequence[Mapping[str, Any]] = ()
        self._at = 0

    def run(self, *values: Mapping[str, Any]) -> None:
        """Take the values of traced variables, a dict for each place, and commands.

        Raises:
            RuntimeError: there is no terminal to read commands from.
            BdbQuit: the command was to quit.
        """
        self._values, self._at = values, 0
        self._tell(f"> {self._places[0]}")
        try:
            self.cmdloop()
        except (EOFError, OSError) as error:
            raise RuntimeError(
                f"debug.breakpoint at {self._places[0]}: there is no terminal to read commands "
                "from; run the program in one, or use debug.print"
            ) from error

    def _tell(self, text: str) -> None:
        self.stdout.write(text + "\n")

    def _value(self, expression: str) -> Any:
        return eval(expression, {**self._places[self._at].known, **self._values[self._at]})

    def _show(self, expression: str, text: Any) -> None:
        try:
            self._tell(text(self._value(expression)))
        except Exception as error:
            self._tell(f"*** {type(error).__name__}: {error}")

    def _move(self, by: int) -> None:
        if 0 <= self._at + by < len(self._places):
            self._at += by
            self._tell(f"> {self._places[self._at]}")
        else:
            self._tell("*** there are no more frames")

    def emptyline(self) -> bool:
        return False

    def default(self, line: str) -> bool | None:
        if line == "EOF":
            raise EOFError
        name, _, rest = line.partition(" ")
        if name in _SHORT:
            return self.onecmd(f"{_SHORT[name]} {rest}")
        self._show(line, repr)
        return None

    def do_print(self, arg: str) -> None:
        """p EXPRESSION: show a value."""
        self._show(arg, repr)

    def do_pp(self, arg: str) -> None:
        """pp EXPRESSION: show a value, in lines."""
        self._show(arg, pprint.pformat)

    def do_args(self, arg: str) -> None:
        """a: show the variables that were traced."""
        for name, value in self._values[self._at].items():
            self._tell(f"{name} = {value!r}")

    def do_list(self, arg: str) -> None:
        """l: show the lines around this one."""
        self._tell("\n".join(self._places[self._at].lines()))

    def do_where(self, arg: str) -> None:
        """w, bt: show the frames, the innermost last."""
        for number, place in reversed([*enumerate(self._places)]):
            self._tell(f"{'>' if number == self._at else ' '} {place}")

    def do_up(self, arg: str) -> None:
        """u: go to the caller."""
        self._move(1)

    def do_down(self, arg: str) -> None:
        """d: go back to what it called."""
        self._move(-1)

    def do_continue(self, arg: str) -> bool:
        """c: let the program go on."""
        return True

    def do_quit(self, arg: str) -> None:
        """q: end the program."""
        raise bdb.BdbQuit


_SHORT = {
    "p": "print",
    "a": "args",
    "l": "list",
    "w": "where",
    "bt": "where",
    "u": "up",
    "d": "down",
    "c": "continue",
    "q": "quit",
}
