"""The primitives that are functions of irax's library: it has no operations like them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irax import lax, random
from irax import numpy as jnp
from irax.core.array import Array
from irax.jaxprs.primitives import Built


class LibraryPrimitive(Built):
    """A primitive whose results are those of a function."""

    def __init__(
        self, name: str, function: Callable[..., Any], multiple_results: bool = False
    ) -> None:
        super().__init__(name)
        self._function: Callable[..., Any] = function
        self.multiple_results: bool = multiple_results

    def bind(self, *args: Any, **params: Any) -> Any:
        """Call the function."""
        return self._function(*args, **params)


def _index_of(largest: Callable[..., Array]) -> Callable[..., Array]:
    def index(operand: Any, *, axes: Any, index_dtype: Any) -> Array:
        (axis,) = axes
        return largest(operand, axis, index_dtype)

    return index


def _across(collective: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(*args: Any, axes: Any, axis_index_groups: Any = None, **_: Any) -> list[Any]:
        return [collective(x, axes, axis_index_groups=axis_index_groups) for x in args]

    return reduced


def _bits(keys: Any, *, bit_width: int, shape: Any) -> Array:
    return random.bits(keys, shape, f"uint{bit_width}")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argmax": _index_of(lax.argmax),
    "argmin": _index_of(lax.argmin),
    "axis_index": lambda *, axis_name: lax.axis_index(axis_name),
    "copy": lambda x: jnp.array(x, copy=True),
    "cumlogsumexp": lambda x, *, axis, reverse: lax.cumlogsumexp(x, axis, reverse),
    "exp2": lambda x, **_: lax.exp2(x),
    "integer_pow": lambda x, *, y: lax.integer_pow(x, y),
    "nextafter": lax.nextafter,
    "random_bits": _bits,
    "random_fold_in": random.fold_in,
    "random_split": lambda keys, *, shape: random.split(keys, shape),
    "regularized_incomplete_beta": lax.betainc,
    "squeeze": lambda x, *, dimensions: lax.squeeze(x, dimensions),
    "stop_gradient": lax.stop_gradient,
    "tile": lambda x, *, reps: jnp.tile(x, reps),
}
"""By name, those of one result."""

LISTS: dict[str, Callable[..., Any]] = {
    "pmax": _across(lax.pmax),
    "pmin": _across(lax.pmin),
    "psum": _across(lax.psum),
    "split": lambda x, *, sizes, axis: lax.split(x, sizes, axis),
}
"""By name, those of a list of results."""


def primitives() -> dict[str, LibraryPrimitive]:
    """Return the primitives by name."""
    return {
        name: LibraryPrimitive(name, function, functions is LISTS)
        for functions in (FUNCTIONS, LISTS)
        for name, function in functions.items()
    }
