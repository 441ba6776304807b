"""The functions whose Jacobians are taken: the user's, and the gradient of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import tree_util
from irax.core.array import Array
from irax.core.callables import check_callable
from irax.core.trees import array_trees
from irax.core.trees.flattening import bind_others, normalize_argnums
from irax.core.trees.parameter_names import ParameterNames
from irax.transforms.autodiff import ArgNums, grad, value_and_grad
from irax.transforms.differentiable import check_differentiable, checked_pair

Subject = Callable[["Function", Callable[..., Any], int], Callable[..., tuple[Any, Any]]]
"""The function whose Jacobian is taken, for the user's, and one of a number of arguments: `itself`,
`gradient`. Its second result is not differentiated: it is what callers get beside the Jacobian, a
pair, of which the second is what the user's function returns beside its result.
"""


@dataclass(frozen=True)
class Function:
    """A user's function and how it is differentiated."""

    what: str
    """The name of the transformation, for messages."""
    fun: Callable[..., Any]
    argnums: ArgNums
    has_aux: bool
    holomorphic: bool | None = None
    """None if the arguments may be real or complex."""

    def __post_init__(self) -> None:
        check_callable(self.fun, self.what)

    def called(self, args: Any, kwargs: Any, subject: Subject, abstract: bool = False) -> Call:
        """Return a call of the subject of this function. If `abstract`, arguments may be
        `ShapeDtypeStruct`s.

        Raises:
            TypeError: an argument that is differentiated is no floating-point array, or another is
                neither an array nor hashable.
        """
        numbers = normalize_argnums(self.argnums, len(args), self.what)
        chosen = tuple(args[i] for i in numbers)
        kinds = {None: "fc", True: "c", False: "f"}[self.holomorphic]
        check_differentiable(self.fun, chosen, numbers, self.what, False, kinds, abstract)
        others = tuple(None if i in numbers else x for i, x in enumerate(args)), kwargs
        leaves, tree = tree_util.tree_flatten(others)
        static = {i: x for i, x in enumerate(leaves) if not _is_array(x)}
        if static:
            others = tree_util.tree_unflatten(
                tree, [None if i in static else x for i, x in enumerate(leaves)]
            )

        def function(others: Any, *given: Any) -> tuple[Any, Any]:
            if static:
                parts = tree.flatten_up_to(others)
                others = tree_util.tree_unflatten(
                    tree, [static.get(i, x) for i, x in enumerate(parts)]
                )
            args, kwargs = others
            bound = bind_others(self.fun, args, kwargs, numbers)
            return subject(self, bound, len(given))(*given)

        return Call(self.what, self.fun, function, others, chosen, numbers, tuple(static.items()))

    def pair(self, out: Any) -> tuple[Any, Any]:
        """Return what the function returned as a pair of the result and what is beside it."""
        return checked_pair(out, self.what, self.fun) if self.has_aux else (out, None)


@dataclass(frozen=True)
class Call:
    """A call of a function whose Jacobian is taken."""

    what: str
    fun: Callable[..., Any]
    """The user's function."""
    function: Callable[..., tuple[Any, Any]]
    """The subject, of `others` and then of the arguments that are differentiated."""
    others: tuple[Any, Any]
    """The other arguments, by position and by name, None in the places of what is no array."""
    chosen: tuple[Any, ...]
    """The arguments that are differentiated."""
    numbers: tuple[int, ...]
    """Their positions."""
    static: tuple[tuple[int, Any], ...]
    """The arguments that are no arrays, by their number among the leaves of the others."""

    @property
    def names(self) -> list[str]:
        """A name for each array of the others, and then of those that are differentiated."""
        names = ParameterNames(self.fun)
        return names.of_leaves(*self.others) + [
            names.of(number) + array_trees.keystr(path)
            for number, x in zip(self.numbers, self.chosen, strict=True)
            for path, _ in array_trees.tree_leaves_with_path(x)
        ]

    @property
    def key(self) -> Any:
        """The structures, types and values that the pattern and the program depend on.

        Raises:
            TypeError: an argument that is no array cannot be hashed.
        """
        leaves, tree = tree_util.tree_flatten((self.others, self.chosen))
        types = tuple((np.shape(x), str(getattr(x, "dtype", type(x)))) for x in leaves)
        for _, x in self.static:
            try:
                hash(x)
            except TypeError:
                raise TypeError(
                    f"{self.what}: an argument has {x!r} of type {type(x).__name__}, which is no "
                    "array, and cannot be hashed; bind it with functools.partial"
                ) from None
        return tree, types, self.static


def _is_array(x: Any) -> bool:
    return (
        isinstance(x, Array | np.generic | bool | int | float | complex)
        or (hasattr(x, "shape") and hasattr(x, "dtype"))
        or hasattr(x, "__jax_array__")
        or hasattr(x, "__irax_array__")
    )


def itself(
    function: Function, fun: Callable[..., Any], count: int
) -> Callable[..., tuple[Any, Any]]:
    """Return the function of the value, beside it."""

    def twice(*given: Any) -> tuple[Any, Any]:
        both = function.pair(fun(*given))
        return both[0], both

    return twice


def gradient(
    function: Function, fun: Callable[..., Any], count: int
) -> Callable[..., tuple[Any, Any]]:
    """Return the gradient of the function with respect to all its arguments, beside it."""
    slopes = grad(lambda *x: function.pair(fun(*x)), range(count), True, bool(function.holomorphic))

    def twice(*given: Any) -> tuple[Any, Any]:
        both = slopes(*given)
        return both[0], both

    return twice


def with_value(
    function: Function, fun: Callable[..., Any], count: int
) -> Callable[..., tuple[Any, Any]]:
    """Return the gradient of the function with respect to all its arguments, and its value."""
    both = value_and_grad(
        lambda *x: function.pair(fun(*x)), range(count), True, bool(function.holomorphic)
    )

    def turned(*given: Any) -> tuple[Any, Any]:
        value, slopes = both(*given)
        return slopes, value

    return turned
