"""Errors as values: the number of the check that failed first, and what its message shows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from irax import tree_util
from irax.core.array import as_array
from irax.core.trees import array_trees
from irax.numpy import where


class JaxRuntimeError(ValueError):
    """A check failed."""


class JaxException(Exception):
    """The base of the kinds of checks."""


class FailedCheckError(JaxException):
    """A check of the user's failed."""


class NaNError(JaxException):
    """An operation made a NaN."""


class DivisionByZeroError(JaxException):
    """A number was divided by zero."""


class OOBError(JaxException):
    """An index was out of bounds."""


ErrorCategory: TypeAlias = type[JaxException]
Categories: TypeAlias = frozenset[ErrorCategory]

user_checks: Categories = frozenset({FailedCheckError})
"""The checks that functions make by `check`."""
nan_checks: Categories = frozenset({NaNError})
"""Checks for NaNs in the results of operations."""
index_checks: Categories = frozenset({OOBError})
"""Checks for indices that are out of bounds."""
div_checks: Categories = frozenset({DivisionByZeroError})
"""Checks for divisions by zero."""
float_checks: Categories = nan_checks | div_checks
"""`nan_checks` and `div_checks`."""
automatic_checks: Categories = float_checks | index_checks
"""All checks but those of functions themselves."""
all_checks: Categories = automatic_checks | user_checks
"""All checks."""

_numbers = itertools.count(1)


@dataclass(frozen=True, eq=False)
class Site:
    """A place in a function where a check is made."""

    category: ErrorCategory
    message: str
    """A format of the pytree of the payload, `(args, kwargs)`."""
    structure: Any
    """The structure of the payload."""
    avals: tuple[Any, ...]
    """The types of its leaves."""
    line: str
    """The line of the check, or of what is checked, with its text; empty where nobody knows."""
    number: int = field(default_factory=lambda: next(_numbers), init=False)
    """The number by which an `Error` names it; 0 is no site's."""

    def text(self, payload: Sequence[Any]) -> str:
        """Return the message for a payload."""
        args, kwargs = array_trees.tree_unflatten(self.structure, map(as_array, payload))
        suffix = " (`check` failed)" if self.category is FailedCheckError else ""
        return self.message.format(*args, **kwargs) + suffix


class Error:
    """The outcome of checks: `get` returns the message of the first that failed.

    It is a pytree of arrays, which compiled functions return and vmap maps.
    """

    def __init__(self, number: Any, payloads: Sequence[Any], sites: Sequence[Site]) -> None:
        self._number = number
        self._payloads = tuple(payloads)
        self._sites = tuple(sites)

    def get(self) -> str | None:
        """Return the message of the check that failed first, or None if all held."""
        numbers = np.asarray(self._number)
        found = []
        for index in np.ndindex(numbers.shape):
            text = self._text(int(numbers[index]), index)
            if text is not None:
                place = ", ".join(map(str, index))
                found.append(f"at mapped index {place}: {text}" if index else text)
        return "\n".join(found) or None

    def _text(self, number: int, lane: tuple[int, ...]) -> str | None:
        payloads = iter(self._payloads)
        for site in self._sites:
            own = [next(payloads) for _ in site.avals]
            if site.number == number:
                return site.text([np.asarray(x)[lane] for x in own])
        return None

    def get_exception(self) -> JaxException | None:
        """Return an exception of the category of the check that failed first, or None if all held;
        of several lanes, that of the first in which one failed.
        """
        numbers = np.asarray(self._number)
        failed = np.argwhere(numbers)
        if not len(failed):
            return None
        lane = tuple(map(int, failed[0]))
        number = int(numbers[lane])
        category = next(site.category for site in self._sites if site.number == number)
        return category(self._text(number, lane))

    def throw(self) -> None:
        """Raise an error if a check failed.

        Raises:
            JaxRuntimeError: with the message of the first that did, and its line.
        """
        message = self.get()
        if message is None:
            return
        numbers = set(np.unique(np.asarray(self._number)).tolist())
        lines = dict.fromkeys(s.line for s in self._sites if s.number in numbers and s.line)
        if lines:
            message = f"{message.rstrip(' .')}, at {' and at '.join(lines)}"
        raise JaxRuntimeError(message)

    def __repr__(self) -> str:
        return f"Error({self.get()})"

    # -- in traces --

    @property
    def leaves(self) -> list[Any]:
        """The arrays that loops carry."""
        return [self._number, *self._payloads]

    @property
    def sites(self) -> tuple[Site, ...]:
        """The checks that it may tell of."""
        return self._sites

    def with_leaves(self, leaves: Sequence[Any]) -> Error:
        """Return the error of the same checks, and other arrays."""
        number, *payloads = leaves
        return Error(number, payloads, self._sites)

    def after(self, site: Site, failed: Any, payload: Sequence[Any]) -> Error:
        """Return the error after a check, which counts if it is the first that failed."""
        first = (self._number == 0) & failed
        chosen, start = list(self._payloads), 0
        for other in self._sites:
            if other is site:
                break
            start += len(other.avals)
        for place, value in enumerate(payload, start):
            chosen[place] = where(first, value, chosen[place])
        number = np.int32(site.number)
        return Error(where(first, number, self._number), chosen, self._sites)

    @staticmethod
    def of(sites: Sequence[Site]) -> Error:
        """Return the error of checks that all hold so far."""
        payloads = [np.zeros(a.shape, a.dtype) for site in sites for a in site.avals]
        return Error(np.int32(0), payloads, sites)


tree_util.register_pytree_node(
    Error,
    lambda error: (tuple(error.leaves), error.sites),
    lambda sites, leaves: Error(leaves[0], leaves[1:], sites),
)

init_error: Error = Error.of(())
"""The error of no checks."""
