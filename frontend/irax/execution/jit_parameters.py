"""Static and donated parameters: as `jit` is given them, and as calls use them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from irax import dtypes
from irax.config import config
from irax.core.array import ConcreteArray, as_array
from irax.core.avals import ShapedArray
from irax.core.shardings import explicit_axes
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.core.wrapping import wraps

Parameters = tuple[tuple[int, ...], frozenset[str]]
"""Parameters of a function, by position and by name."""


def parameters_of(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None,
    argnames: str | Iterable[str] | None,
    what: str,
) -> Parameters:
    """The static or donated parameters (`what`), by position and by name. Where only one of the
    two is given, the other follows from the signature.
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = {argnames} if isinstance(argnames, str) else set(argnames or ())
    for number in numbers:
        if not isinstance(number, int):
            raise TypeError(f"jit: {what}_argnums must be ints, got {number!r}")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"jit: {what}_argnames must be strings, got {name!r}")
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError) as error:
        if names and what == "donate":
            raise ValueError(
                f"jit: {what}_argnames={sorted(names)}: the signature of {name_of(fun)} cannot be "
                f"read ({error}): give {what}_argnums"
            ) from error
        return numbers, frozenset(names)
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    variadic = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    open_names = any(p.kind == p.VAR_KEYWORD for p in parameters)
    known = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    unnamed = {p.name for p in parameters} - known
    for number in numbers:
        if not variadic and not -len(positional) <= number < len(positional):
            raise ValueError(
                f"jit: {what}_argnums={number} is out of range: {name_of(fun)} has "
                f"{len(positional)} positional arguments"
            )
    for name in names:
        if name in unnamed or (name not in known and not open_names):
            raise ValueError(
                f"jit: {what}_argnames={name!r}: {name_of(fun)} has no argument of this name; "
                f"by name it takes {', '.join(sorted(known))}"
            )
    if argnums is not None and argnames is not None:
        return tuple(sorted(set(numbers))), frozenset(names)
    by_name = {positional.index(name) for name in names if name in positional}
    by_number = {positional[n] for n in numbers if -len(positional) <= n < len(positional)}
    return tuple(sorted({*numbers, *by_name})), frozenset(names | by_number)


@dataclass(frozen=True)
class Static:
    """A static argument: 1, 1.0 and True are equal to Python, as are 0.0 and -0.0, but make
    different programs.
    """

    where: int | str
    value: Any

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Static)
            and self.where == other.where
            and static_key(self.value) == static_key(other.value)
        )

    def __hash__(self) -> int:
        return hash((self.where, static_key(self.value)))


def static_key(value: Any) -> Any:
    """Return a key that tells values apart that are equal to Python: by the types and signs of
    numbers, in tuples too. All nans of a type have one.
    """
    kind = type(value)
    if kind in (int, bool, str):
        return kind, value
    if isinstance(value, tuple):
        return kind, *map(static_key, value)
    if kind is frozenset:
        return kind, frozenset(map(static_key, value))
    if isinstance(value, complex | np.complexfloating):
        return kind, static_key(value.real), static_key(value.imag)
    if isinstance(value, float | np.floating):
        return kind, "nan" if value != value else value, bool(np.signbit(value))
    return kind, value


def split_static(
    fun: Callable[..., Any], static: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Static, ...]]:
    """Return the arguments of a call without the static ones, and the static ones.

    Raises:
        ValueError: a static argument is not hashable.
    """
    argnums, argnames = static
    numbers = {n % len(args) for n in argnums if -len(args) <= n < len(args)}
    found = [Static(n, args[n]) for n in sorted(numbers)]
    found += [Static(name, kwargs[name]) for name in sorted(kwargs) if name in argnames]
    for item in found:
        try:
            hash(item.value)
        except TypeError:
            raise ValueError(
                f"jit: {name_of(fun)}: the static argument {item.where!r} must be hashable, got "
                f"{item.value!r} of type {type(item.value).__name__}: {_hashable(item.value)}, or "
                "make it an array argument by not declaring it static"
            ) from None
    dynamic = tuple(x for i, x in enumerate(args) if i not in numbers)
    named = {name: x for name, x in kwargs.items() if name not in argnames}
    return dynamic, named, tuple(found)


def _hashable(x: Any) -> str:
    """Return what to pass in place of a static argument that is not hashable."""
    match x:
        case list():
            return "pass a tuple instead of a list"
        case dict():
            return "pass a frozen dataclass, or tuple(d.items()), instead of a dict"
        case set():
            return "pass a frozenset instead of a set"
        case _:
            return "pass a value that is, such as a tuple"


def with_static(fun: Callable[..., Any], static: Sequence[Static]) -> Callable[..., Any]:
    """Return a function of the other arguments, with the static ones filled in."""
    if not static:
        return fun

    @wraps(fun)
    def fixed(*args: Any, **kwargs: Any) -> Any:
        full = list(args)
        for item in static:
            if isinstance(item.where, int):
                full.insert(item.where, item.value)
            else:
                kwargs[item.where] = item.value
        return fun(*full, **kwargs)

    return fixed


def donated_leaves(
    donated: Parameters, tree: Any, count: int, static: Sequence[Static]
) -> list[int]:
    """Return the indices of the leaves, of `count`, that belong to donated arguments."""
    numbers, names = donated
    if not (numbers or names):
        return []
    args, kwargs = array_trees.tree_unflatten(tree, range(count))
    fixed = {item.where for item in static}
    total = len(args) + sum(isinstance(where, int) for where in fixed)
    positions = [n for n in range(total) if n not in fixed]
    chosen = {n % total for n in numbers if -total <= n < total}
    given = [x for n, x in zip(positions, args, strict=True) if n in chosen]
    given += [x for name, x in kwargs.items() if name in names]
    return array_trees.tree_leaves(given)


def signature_of(leaf: Any) -> Any:
    """Return the part of a leaf in the cache key: all that a trace can depend on."""
    if isinstance(leaf, ConcreteArray):
        return explicit_axes.signature(leaf)
    if isinstance(leaf, np.ndarray | np.generic):
        return ShapedArray(leaf.shape, dtypes.canonicalize_dtype(leaf.dtype), False)
    if type(leaf) in _PYTHON_SCALARS:
        return _aval_of_scalars(type(leaf), config.enable_x64)
    return as_array(leaf).aval


_PYTHON_SCALARS = {bool, int, float, complex}


@cache
def _aval_of_scalars(kind: type, enable_x64: bool) -> ShapedArray:
    return as_array(kind(0)).aval
