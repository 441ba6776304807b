"""jax._src.util: maps over sequences of one length, and functions of functions."""

import functools
import operator
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from irax.compat.jax.api_util import safe_map as safe_map


def safe_zip(*args: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of sequences of one length.

    Raises:
        ValueError: their lengths differ.
    """
    return list(zip(*args, strict=True))


def unzip2(xys: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the first and the second members of pairs."""
    pairs = list(xys)
    return tuple(x for x, _ in pairs), tuple(y for _, y in pairs)


def unzip3(
    xyzs: Iterable[tuple[Any, Any, Any]],
) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the first, second and third members of triples."""
    rows = list(xyzs)
    return tuple(x for x, _, _ in rows), tuple(y for _, y, _ in rows), tuple(z for *_, z in rows)


def split_list(args: Sequence[Any], ns: Sequence[int]) -> list[list[Any]]:
    """Return the parts of a list that have these lengths, and the rest."""
    parts, rest = [], list(args)
    for n in ns:
        parts.append(rest[:n])
        rest = rest[n:]
    return [*parts, rest]


def partition_list(bs: Sequence[bool], l: Sequence[Any]) -> tuple[list[Any], list[Any]]:  # noqa: E741
    """Return the members of a list where there is False, and those where there is True."""
    pairs = safe_zip(bs, l)
    return [x for b, x in pairs if not b], [x for b, x in pairs if b]


def merge_lists(bs: Sequence[bool], l0: Sequence[Any], l1: Sequence[Any]) -> list[Any]:
    """Return the list of which these are the parts: the inverse of `partition_list`."""
    first, second = iter(l0), iter(l1)
    return [next(second if b else first) for b in bs]


def canonicalize_axis(axis: Any, num_dims: int) -> int:
    """Return the number of an axis, which may be counted from the end.

    Raises:
        ValueError: there is no such axis.
    """
    number = operator.index(axis)
    if not -num_dims <= number < num_dims:
        raise ValueError(f"axis {number} is out of bounds for array of dimension {num_dims}")
    return number % num_dims


def wrap_name(transform_name: str, name: str) -> str:
    """Return the name of a transformed function."""
    return f"{transform_name}({name})"


def concatenate(xs: Iterable[Iterable[Any]]) -> list[Any]:
    """Return the members of lists, one after the other."""
    return [x for part in xs for x in part]


flatten = concatenate


def wraps(
    wrapped: Callable[..., Any], namestr: str | None = None, docstr: str | None = None, **_: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a function the name and the docstring of another one, put into
    formats, where these are given, as `{fun}` and `{doc}`.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        name = getattr(wrapped, "__name__", "<unnamed function>")
        doc = getattr(wrapped, "__doc__", "") or ""
        found = functools.wraps(wrapped)(function)
        found.__name__ = name if namestr is None else namestr.format(fun=name, doc=doc)
        found.__doc__ = doc if docstr is None else docstr.format(fun=name, doc=doc)
        return found

    return decorated


class HashableFunction:
    """A function that is equal to others of the same code and the same `closure`."""

    def __init__(self, f: Callable[..., Any], closure: Any) -> None:
        self.f: Callable[..., Any] = f
        self.closure: Any = closure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashableFunction) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, Any]:
        return getattr(self.f, "__code__", self.f), self.closure

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.f(*args, **kwargs)


class HashablePartial:
    """A function with its first arguments, equal to others of the same code and arguments."""

    def __init__(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.f: Callable[..., Any] = f
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashablePartial) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        code = getattr(self.f, "__code__", self.f)
        return code, self.args, tuple(sorted(self.kwargs.items()))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.f(*self.args, *args, **self.kwargs, **kwargs)


def weakref_lru_cache(call: Callable[..., Any], maxsize: int | None = 2048) -> Callable[..., Any]:
    """Return a function that keeps its results, as long as its first argument lives."""
    kept: weakref.WeakKeyDictionary[Any, Callable[..., Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def cached(first: Any, *args: Any, **kwargs: Any) -> Any:
        if first not in kept:
            there = weakref.ref(first)
            kept[first] = functools.lru_cache(maxsize)(lambda *a, **k: call(there(), *a, **k))
        return kept[first](*args, **kwargs)

    vars(cached)["cache_clear"] = kept.clear
    return cached
