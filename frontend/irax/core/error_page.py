"""Notes on exceptions: their sections of docs/errors.md, and how irax calls functions that it is
given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import FrameType

from irax import errors
from irax.core.called_names import argument_that
from irax_runtime.platforms import NoDevice

PAGE = "docs/errors.md"

SECTIONS: Sequence[tuple[str, type[Exception], str]] = (
    ("a-branch-on-a-traced-value", errors.TracerBoolConversionError, ""),
    ("a-traced-array-for-numpy", errors.TracerArrayConversionError, "a function of NumPy"),
    ("a-traced-value-where-python-needs-a-number", errors.ConcretizationTypeError, ""),
    ("a-traced-value-where-python-needs-a-number", errors.TracerIntegerConversionError, ""),
    ("a-result-whose-size-depends-on-values", errors.NonConcreteBooleanIndexError, ""),
    ("a-value-that-left-its-trace", errors.UnexpectedTracerError, ""),
    ("an-array-that-is-changed", TypeError, "an array cannot be changed"),
    ("a-loop-without-a-bound-differentiated", ValueError, "has no reverse mode: how many steps"),
    ("a-loop-that-carries-on-something-else", TypeError, "carries on must have"),
    ("the-gradient-of-integers-or-of-an-array", TypeError, "integers have no derivative"),
    ("the-gradient-of-integers-or-of-an-array", TypeError, "the function must return a scalar"),
    ("arrays-that-are-not-in-a-list", TypeError, "pass the arrays in one list"),
    ("a-nan-with-debug_nans", FloatingPointError, "invalid value"),
    ("a-key-that-is-used-twice", errors.KeyReuseError, ""),
    ("operands-that-are-divided-in-two-ways", errors.ShardingTypeError, ""),
    ("a-size-that-decides", errors.InconclusiveDimensionOperation, ""),
    ("a-device-that-is-not-there", NoDevice, ""),
)
"""The heading of each section, as links have it, with a class of exceptions and a part of their
messages; the first that fits."""

CALLS = {
    "scan": "lax.scan calls f(carry, row)",
    "map": "lax.map calls f(row)",
    "tree_map": "tree.map calls f with a leaf of each tree",
    "fori_loop": "lax.fori_loop calls body_fun(i, value)",
    "while_loop": "lax.while_loop calls cond_fun(value) and body_fun(value)",
    "cond": "lax.cond calls true_fun(*operands) or false_fun(*operands)",
    "switch": "lax.switch calls the branch with the operands: branch(*operands)",
    "associative_scan": "lax.associative_scan calls fn(a, b)",
    "reduce": "lax.reduce calls computation(a, b)",
    "reduce_window": "lax.reduce_window calls computation(a, b)",
    "apply_along_axis": "apply_along_axis calls func1d(slice, *args)",
}
"""The calls that irax's functions make of functions that they are given, by their names."""

_OTHER_ARGUMENTS = re.compile(r"takes .*positional argument|missing \d+ required positional arg")
_NOT_SUCH = re.compile(
    r"'(\w+)' object cannot be interpreted as an (integer)|'(\w+)' object is not "
    r"(?:iterable|callable|subscriptable)|object of type '(\w+)' has no len\(\)"
    r"|'(\w+)' object has no attribute '\w+'"
)


def notes_on(error: BaseException, called: Sequence[FrameType]) -> Iterator[str]:
    """Yield the lines that say more of an exception of irax's: the section of the page of errors,
    how a function that takes other arguments is called, and which argument is of a wrong type.
    `called` are the frames of irax's functions that were running.
    """
    for heading, kind, part in SECTIONS:
        if isinstance(error, kind) and re.search(re.escape(part), str(error)):
            yield f"Its cure, with an example: {PAGE}#{heading}"
            break
    if isinstance(error, TypeError) and _OTHER_ARGUMENTS.search(str(error)):
        yield from _on_call(str(error), [frame.f_code.co_name for frame in called])
    found = _NOT_SUCH.fullmatch(str(error))
    if found is not None and isinstance(error, TypeError | AttributeError):
        kind = next(x for x in found.groups() if x is not None and x != "integer")
        yield from _on_argument(kind, called, of_ints=found[2] is not None)


def _on_call(text: str, names: Sequence[str]) -> Iterator[str]:
    name = next((n for n in names if n in CALLS), None)
    if name is not None and not text.startswith(f"{name}()"):  # else it is what was called wrongly
        yield CALLS[name]


def _on_argument(kind: str, called: Sequence[FrameType], of_ints: bool) -> Iterator[str]:
    """Yield which argument has a type that it cannot have, and what it is to be."""
    found = argument_that(called, lambda x: type(x).__name__ == kind)
    if found is None:
        return
    name, argument, value, says = found
    says = f"{argument}: {says}" if says else ""
    if of_ints:
        says = f"expected {'ints' if isinstance(value, tuple | list) else 'an int'}"
    yield f"{name}: {argument} is {value!r}{says and '; '}{says}"
