"""Names of the functions that users called, of the frames that run them, for messages of errors."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

_WRAPPERS = frozenset({"public", "replaying", "entered", "dividing", "call"})
"""The names of the functions that decorators of public functions make: `api_boundary`, those of a
library, `takes_out_sharding`, `renamed`.
"""

_PREFIX = re.compile(r"([A-Za-z_][\w.]*): (?=\S)")


def function_called(called: Sequence[FrameType]) -> tuple[str, Any, FrameType] | None:
    """Return the name of the public function that the user called, without `irax.` and `numpy.`,
    the function, and its frame; None if its frame does not tell. `called` are the frames of irax's
    functions that were running, the outermost first.
    """
    for frame in called:
        if frame.f_code.co_name in _WRAPPERS and "<locals>" in frame.f_code.co_qualname:
            continue
        if frame.f_code.co_name.startswith("_"):
            return None
        for module in _modules(frame.f_globals.get("__name__", "")):
            function = vars(module).get(frame.f_code.co_name)
            if (
                callable(function)
                and getattr(inspect.unwrap(function), "__code__", None) is frame.f_code
            ):
                name = f"{module.__name__}.{frame.f_code.co_name}".removeprefix("irax.")
                return name.removeprefix("numpy."), function, frame
        return None
    return None


def _modules(name: str) -> Iterator[Any]:
    """Yield the modules around one, the outermost first, and itself."""
    parts = name.split(".")
    paths = (".".join(parts[: i + 1]) for i in range(len(parts)))
    yield from (sys.modules[path] for path in paths if path in sys.modules)


def named_as_called(text: str, called: Sequence[FrameType]) -> str:
    """Return a message with the name of the function that the user called, where it begins with
    that of another one, which that function called: `clip` in place of `maximum`.

    A function that the user gave to that one keeps its own, as `tree.map(add, x, y)` does, and so
    do the methods of one: `custom_jvp.defjvps`.
    """
    found, outer = _PREFIX.match(text), function_called(called)
    if found is None or outer is None:
        return text
    inner = found[1].rpartition(".")[2]
    owner = found[1].partition(".")[0]
    for given in _arguments(outer[2]).values():
        if getattr(given, "__name__", None) == inner or type(given).__name__ == owner:
            return text
    if inner == outer[0].rpartition(".")[2] and found[1] in (inner, outer[0]):
        return text
    if inner not in set(_labels(called)) and not _is_public(found[1]):
        return text
    return f"{outer[0]}: {text[found.end() :]}"


def _labels(called: Sequence[FrameType]) -> Iterator[str]:
    """Yield the names by which messages may call what these frames run."""
    for frame in called:
        yield from frame.f_code.co_qualname.split(".")
        for key in ("what", "name", "function", "self"):
            value = frame.f_locals.get(key)
            label = value if isinstance(value, str) else getattr(value, "__name__", None)
            yield from (str(x).rpartition(".")[2] for x in (label, type(value).__name__))


def _is_public(name: str) -> bool:
    """Return True for the name of a function of irax as messages have it."""
    for root in ("irax.numpy", "irax", "irax.lax"):
        found: Any = sys.modules.get(root)
        for part in name.split("."):
            found = getattr(found, part) if part in dir(found) else None
        if callable(found):
            return True
    return False


def _arguments(frame: FrameType) -> dict[str, Any]:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: frame.f_locals[name] for name in names if name in frame.f_locals}


def argument_that(
    called: Sequence[FrameType], fits: Callable[[Any], bool]
) -> tuple[str, str, Any, str] | None:
    """Return the name of the function that the user called, and of its first argument that fits
    and was given, its value, and what the docstring says of it; None if there is none.
    """
    for frame in called:
        given = _arguments(frame)
        public = function_called([frame])
        function = public[1] if public else None
        name = public[0] if public else frame.f_code.co_name
        for argument, value in given.items():
            values = value if isinstance(value, tuple | list) else [value]
            if any(map(fits, [value, *values])) and not _is_default(function, argument, value):
                return name, argument, value, _documented(function, argument)
    return None


def _is_default(function: Any, argument: str, value: object) -> bool:
    try:
        default = inspect.signature(function).parameters[argument].default
    except (TypeError, ValueError, KeyError):
        return False
    return default is value


def _documented(function: Any, argument: str) -> str:
    """Return what the docstring of a function says of an argument, as one line; empty for none."""
    text = inspect.getdoc(function) if function is not None else None
    lines = (text or "").partition("\nArgs:\n")[2].splitlines()
    found: list[str] = []
    for line in lines:
        name, colon, rest = line.strip().partition(": ")
        is_entry = line.startswith("    ") and not line.startswith("     ") and bool(colon)
        if found and (is_entry or not line.startswith("     ")):
            break
        if is_entry and argument in name.replace("*", "").split(", "):
            found = [rest]
        elif found:
            found.append(line.strip())
    return " ".join(found).rstrip(".")
