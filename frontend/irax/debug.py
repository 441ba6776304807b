"""Looking at values inside of transformed functions: `irax.debug.print`, `irax.debug.callback`.

Both run when the values are there: inside `jit`, each time that the compiled program runs.
Derivatives are taken past them, and `vmap` calls them for one lane after the other.
"""

from __future__ import annotations

import logging
import string
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.execution import callbacks
from irax.execution.diagnostics import debugger
from irax.execution.shardings.show_shardings import inspect_array_sharding as inspect_array_sharding
from irax.execution.shardings.show_shardings import (
    visualize_array_sharding as visualize_array_sharding,
)
from irax.execution.shardings.show_shardings import visualize_sharding as visualize_sharding
from irax_compiler.ops.callback import Callback

__all__ = [
    "breakpoint",
    "callback",
    "inspect_array_sharding",
    "log",
    "print",
    "visualize_array_sharding",
    "visualize_sharding",
]

_logger = logging.getLogger("irax.debug")


def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls a Python function with the values of arrays, and ignores what it returns.

    `debug.callback(function, *args)`, or with options first: `debug.callback(ordered=True)` takes
    the function and its arguments then, which may be called `ordered` themselves.

    Args:
        callback: takes the arguments, with arrays in them as irax arrays.
        args: pytrees of arrays; leaves that are not arrays stay what they are.
        ordered: accepted: calls have the order that they would have in Python, always.
        partitioned: accepted, without effect.
        kwargs: more of them, by name.

    Raises:
        TypeError: `callback` is not a function, or there are arguments without one.

    >>> seen = []
    >>> irax.jit(lambda x: irax.debug.callback(seen.append, x))(2.0)
    >>> seen
    [Array(2., dtype=float32)]
    """
    what = "debug.callback"
    if callback is None:
        _no_arguments(what, args, kwargs)
        return partial(_call, what, ordered)
    return _call(what, ordered, callback, *args, **kwargs)


def print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Prints arrays: `debug.print("x = {x}", x=x)`, with a format as `str.format` takes it.

    Not with f-strings: those are formatted while Python traces the function, when arrays have no
    values yet. `debug.print(ordered=True)("x = {}", x)` gives the options first.

    Args:
        fmt: a format string.
        args: pytrees of arrays, or anything else that can be printed.
        ordered: accepted: lines have the order that they would have in Python, always.
        partitioned: accepted, without effect.
        skip_format_check: whether to leave it to the time of printing to find that format and
            arguments do not fit.
        kwargs: more of them, by name.

    Raises:
        TypeError: `fmt` is not a string.
        ValueError: an argument that the format does not use.
        KeyError, IndexError: an argument that the format uses and that is not there.

    >>> irax.jit(lambda x: irax.debug.print("x = {x}, twice {}", 2 * x, x=x))(1.5)
    x = 1.5, twice 3.0
    """
    what = "debug.print"
    if fmt is None:
        _no_arguments(what, args, kwargs)
        return partial(_print, what, ordered, skip_format_check)
    return _print(what, ordered, skip_format_check, fmt, *args, **kwargs)


def log(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Log arrays as `print` prints them, by the logger "irax.debug" at the level INFO.

    Args:
        fmt: a format string, as for `print`.
        args: arrays, or pytrees of them, that the format names by position.
        ordered: True to keep the order of the calls.
        partitioned: True to log each device's part of a divided array.
        skip_format_check: True to leave the format unchecked.
        kwargs: arrays that the format names.

    Raises:
        TypeError: `fmt` is not a text.
        ValueError: the format and the arguments do not fit together.

    >>> irax.debug.log("x = {}", 1.5)
    """
    what = "debug.log"
    if fmt is None:
        _no_arguments(what, args, kwargs)
        return partial(_print, what, ordered, skip_format_check)
    return _print(what, ordered, skip_format_check, fmt, *args, **kwargs)


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> Any:
    """Stop when the program comes here, and read commands from the terminal, which look at the
    variables of the function and of its callers.

    The commands are those of Python's pdb: `p x`, `pp x`, `a`, `l`, `w`, `u`, `d`, `c`, `q`. The
    program cannot be changed, and goes on as a whole.

    Args:
        backend: "cli", or None for the same.
        filter_frames: leave out the frames of irax.
        num_frames: the most frames to look at; all, if it is None.
        ordered: accepted: calls have the order that they would have in Python, always.
        token: returned as it is.
        kwargs: `stdin` and `stdout`, files in place of the terminal.

    Raises:
        ValueError: `backend` is unknown.
        RuntimeError: when it runs, there is no terminal.
    """
    what = "debug.breakpoint"
    if backend not in (None, "cli"):
        raise ValueError(f"{what}: backend must be None or 'cli', got {backend!r}")
    places, traced = debugger.places(sys._getframe(1), num_frames, filter_frames)
    _call(what, ordered, debugger.Debugger(places, **kwargs).run, *traced)
    return token


def _no_arguments(what: str, args: Any, kwargs: Any) -> None:
    if args or kwargs:
        raise TypeError(f"{what}: got arguments {args} {kwargs}, and nothing to give them to")


def _call(
    what: str, ordered: bool, function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> None:
    if not callable(function):
        raise TypeError(
            f"{what}: the first argument must be a function, got {function!r} of type "
            f"{type(function).__name__}"
        )
    arrays, static, in_tree = callbacks.split((args, kwargs))
    there = callbacks.HostFunction(function, what, callbacks.where(), in_tree, static, None)
    callbacks.call("debug", there, partial(Callback, ordered=bool(ordered)), arrays, [])


def _print(
    what: str, ordered: bool, skip_format_check: bool, fmt: str, /, *args: Any, **kwargs: Any
) -> None:
    if not isinstance(fmt, str):
        raise TypeError(f"{what}: expected a format string, got {fmt!r}")
    if not skip_format_check:
        try:
            _Check().format(fmt, *args, **kwargs)
        except (IndexError, KeyError) as error:
            raise type(error)(
                f"{what}: the format {fmt!r} asks for more than the {len(args)} arguments and the "
                f"names {[*kwargs]} that are given"
            ) from None
    options = tuple(sorted(np.get_printoptions().items()))
    try:
        printer = _printer(fmt, options, what)
    except TypeError:  # formatters among the options are not hashable
        printer = _Printer(fmt, options, what)
    _call(what, ordered, printer, *args, **kwargs)


@dataclass(frozen=True)
class _Printer:
    """Prints or logs its arguments by a format, with NumPy's options as they were."""

    fmt: str
    options: tuple[tuple[str, Any], ...]
    what: str

    def __str__(self) -> str:
        return f"{self.what.removeprefix('debug.')}({self.fmt!r})"

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        with np.printoptions(**dict(self.options)):
            text = self.fmt.format(*args, **kwargs)
        if self.what == "debug.log":
            _logger.info(text)
        else:
            sys.stdout.write(text + "\n")


_printer = lru_cache(_Printer)
"""Return one object for equal formats, so that tracing again finds the same key."""


class _Check(string.Formatter):
    """A formatter that only checks that no argument is missing or unused."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def check_unused_args(
        self, used_args: set[int | str], args: Sequence[Any], kwargs: Any
    ) -> None:
        unused = [i for i in range(len(args)) if i not in used_args]
        unused += [name for name in kwargs if name not in used_args]
        if unused:
            raise ValueError(
                f"debug.print: the format does not use the arguments {unused}; write "
                "'{}' or '{name}' for each, and no f-string, which is formatted too early"
            )


__getattr__: _GetAttr = _refuse_names(__name__)
