"""Between the user's functions of pytrees and the flat functions that are traced."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax.core.array import Array, as_array
from irax.core.avals import AbstractRef, ShapedArray
from irax.core.key_arrays import KeyArray
from irax.core.shardings.explicit_axes import type_of
from irax.core.tracing import Input
from irax.core.trees import array_trees
from irax.core.trees.parameter_names import ParameterNames
from irax.core.wrapping import wraps


class FlatFunction:
    """A function of pytrees as one of flat arrays; `out_tree` is known once it has run."""

    def __init__(self, function: Callable[..., Any], in_tree: Any, what: str = "result") -> None:
        self.function = function
        self.in_tree = in_tree
        self.what = what
        self.out_tree: Any = None

    def __call__(self, *leaves: Array) -> list[Array]:
        args, kwargs = array_trees.tree_unflatten(self.in_tree, leaves)
        out = self.function(*args, **kwargs)
        arrays, self.out_tree = returned_arrays(out, f"{name_of(self.function)}: {self.what}")
        return arrays


def returned_arrays(out: Any, what: str) -> tuple[list[Array], Any]:
    """Return the leaves of what a function returned as arrays, and its structure.

    Raises:
        TypeError: a leaf is no array, and no number.
        ValueError: one is a mutable array.
    """
    leaves, tree = array_trees.tree_flatten(out)
    try:
        return list(map(as_array, leaves)), tree
    except TypeError:
        named = array_trees.tree_leaves_with_path(out)
        return [returned_array(x, what + array_trees.keystr(path)) for path, x in named], tree


def returned_array(x: Any, what: str) -> Array:
    """Return what a function returned as an array.

    Raises:
        TypeError: it is no array, and no number.
        ValueError: it is a mutable array.
    """
    if isinstance(getattr(x, "aval", None), AbstractRef):
        raise ValueError(
            f"{what} is a mutable array, {x.aval}, which cannot be returned: return its elements, "
            "ref[...]"
        )
    return as_array(x, what)


def name_of(function: Any) -> str:
    """Return the name of a function in the IR and in error messages."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    name = name.strip("_")  # IREE keeps names that begin with underscores to itself
    return name if name.isidentifier() else "lambda"


def argument_names(args: Any, kwargs: Any = None) -> list[str]:
    """A name for each leaf of the arguments, such as `args[0]['w']`."""
    named = [
        f"args{array_trees.keystr(path)}" for path, _ in array_trees.tree_leaves_with_path(args)
    ]
    for path, _ in array_trees.tree_leaves_with_path(kwargs or {}):
        named.append(f"kwargs{array_trees.keystr(path)}")
    return named


@dataclass(frozen=True)
class Arguments:
    """The leaves of a call's arguments, of some of which a function gets parts: slices, shards."""

    leaves: list[Any]
    tree: Any
    names: list[str]
    whole: list[Any]
    """The leaves as users see them, keys whole."""

    @classmethod
    def of(
        cls, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Arguments:
        both = args, kwargs
        leaves, tree = array_trees.tree_flatten(both)
        names = ParameterNames(function).of_leaves(args, kwargs)
        return cls(leaves, tree, names, array_trees.whole_leaves(both))

    def array(self, number: int, what: str) -> tuple[Array, ShapedArray]:
        """Return a leaf as an array, and its type as users see it.

        Raises:
            TypeError: it is no array; the message begins with `what`.
        """
        array = as_array(self.leaves[number], f"{what}: {self.names[number]}")
        shown = self.whole[number]
        return array, shown.aval if isinstance(shown, KeyArray) else array.aval

    def with_leaves(self, numbers: Sequence[int], values: Sequence[Any]) -> list[Any]:
        """Return the leaves, with values in the places of some."""
        full = list(self.leaves)
        for number, value in zip(numbers, values, strict=True):
            full[number] = value
        return full


def abstract_inputs(leaves: Sequence[Any], names: Sequence[str]) -> list[Input]:
    """Inputs that stand for any array of the leaves' shapes and dtypes."""
    return [Input(type_of(x, n), None, n) for x, n in zip(leaves, names, strict=True)]


def known_inputs(
    leaves: Sequence[Array], names: Sequence[str], differentiated: bool | None = None
) -> list[Input]:
    """Inputs that stand for just these arrays, so that Python may branch on their values."""
    return [Input(type_of(x), x, n, differentiated) for x, n in zip(leaves, names, strict=True)]


def differentiated_inputs(leaves: Sequence[Array], names: Sequence[str]) -> list[Input]:
    """Inputs that stand for just these arrays, with respect to which derivatives are taken."""
    return known_inputs(leaves, names, True)


def normalize_argnums(
    argnums: int | Sequence[int],
    count: int,
    what: str,
    too_few: type[Exception] = ValueError,
) -> tuple[int, ...]:
    """`argnums` as a tuple of indices into `count` positional arguments.

    Raises:
        TypeError: not ints.
        ValueError: out of range (`too_few` where the call has too few arguments), or twice the
            same.
    """
    numbers = (argnums,) if isinstance(argnums, int | np.integer) else tuple(argnums)
    normalized = []
    for number in numbers:
        if not isinstance(number, int | np.integer):
            cure = "; give positions, from 0, in place of names" if isinstance(number, str) else ""
            raise TypeError(
                f"{what}: argnums must be an int or a tuple of ints, got {argnums!r}{cure}"
            )
        if not -count <= number < count:
            error = too_few if number >= count else ValueError
            raise error(
                f"{what}: argnums={number} is out of range: the call has {count} positional "
                f"argument{'s' * (count != 1)}; those given by name have no number: pass them by "
                "position"
            )
        normalized.append(int(number) % count)
    if len(set(normalized)) != len(normalized):
        raise ValueError(f"{what}: argnums={argnums!r} names an argument twice")
    return tuple(normalized)


def bind_others(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Any, argnums: Sequence[int]
) -> Callable[..., Any]:
    """`function` of the arguments at `argnums`, and of some by name; others keep their values."""

    @wraps(function)
    def bound(*chosen: Any, **named: Any) -> Any:
        full = list(args)
        for number, value in zip(argnums, chosen, strict=True):
            full[number] = value
        return function(*full, **kwargs, **named)

    return bound
