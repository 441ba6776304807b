"""The page of errors, docs/errors.md: the section that an exception is about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from irax import errors

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
)
"""The heading of each section, as links have it, with a class of exceptions and a part of their
messages; the first that fits."""


def note_on(error: BaseException) -> str | None:
    """Return the line that leads from an exception of irax's to its section; None without one."""
    for heading, kind, part in SECTIONS:
        if isinstance(error, kind) and re.search(re.escape(part), str(error)):
            return f"Its cure, with an example: {PAGE}#{heading}"
    return None
