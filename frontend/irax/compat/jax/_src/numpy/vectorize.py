"""jax._src.numpy.vectorize: numpy.vectorize, and its parts, which libraries build others of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

import irax.numpy
from irax.compat.layers import GetAttr, in_front_of
from irax.numpy.vectorization import Signature

__getattr__: GetAttr = in_front_of(__name__, irax.numpy)

_Dimensions = tuple[str, ...]


def _apply_excluded(
    func: Callable[..., Any],
    excluded: Collection[int | str],
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]:
    """Return a function of the arguments that are not excluded, and these, by position and name."""
    if not excluded:
        return func, args, kwargs
    places = [i for i in range(len(args)) if i not in excluded]
    held = {name: x for name, x in kwargs.items() if name in excluded}

    def applied(*given: Any, **named: Any) -> Any:
        full = list(args)
        for i, x in zip(places, given, strict=True):
            full[i] = x
        return func(*full, **named, **held)

    others = {name: x for name, x in kwargs.items() if name not in excluded}
    return applied, [args[i] for i in places], others


def _parse_gufunc_signature(signature: str) -> tuple[list[_Dimensions], list[_Dimensions]]:
    """Return the core dimensions of each argument and of each result of a signature.

    Raises:
        ValueError: it cannot be read.
    """
    parsed = Signature.parse(signature)
    return parsed.inputs, parsed.outputs


def _meet(sizes: dict[str, int], names: _Dimensions, shape: Sequence[int], context: str) -> None:
    if len(shape) < len(names):
        raise ValueError(
            f"input with shape {tuple(shape)} does not have enough dimensions for all core "
            f"dimensions {names} {context}"
        )
    for name, size in zip(names, shape[len(shape) - len(names) :], strict=True):
        if sizes.setdefault(name, size) != size:
            raise ValueError(
                f"inconsistent size for core dimension {name!r}: {size} vs {sizes[name]} {context}"
            )


def _parse_input_dimensions(
    args: Sequence[Any], input_core_dims: Sequence[_Dimensions], error_context: str = ""
) -> tuple[tuple[int, ...], dict[str, int]]:
    """Return the shape that the other dimensions of arguments broadcast to, and the sizes of core
    dimensions.

    Raises:
        TypeError: there is another number of arguments.
        ValueError: their shapes do not fit.
    """
    if len(args) != len(input_core_dims):
        raise TypeError(
            f"wrong number of positional arguments: expected {len(input_core_dims)}, got "
            f"{len(args)} {error_context}"
        )
    sizes: dict[str, int] = {}
    for x, names in zip(args, input_core_dims, strict=True):
        _meet(sizes, names, np.shape(x), error_context)
    outer = [
        np.shape(x)[: np.ndim(x) - len(names)]
        for x, names in zip(args, input_core_dims, strict=True)
    ]
    return np.broadcast_shapes(*outer), sizes


def _check_output_dims(
    func: Callable[..., Any],
    dim_sizes: dict[str, int],
    expected_output_core_dims: Sequence[_Dimensions],
    error_context: str = "",
) -> Callable[..., Any]:
    """Return a function whose results must have the core dimensions of a signature."""

    def checked(*args: Any) -> Any:
        out = func(*args)
        results = out if isinstance(out, tuple) else (out,)
        if len(results) != len(expected_output_core_dims):
            raise TypeError(
                f"wrong number of output arguments: expected {len(expected_output_core_dims)}, "
                f"got {len(results)} {error_context}"
            )
        sizes = dict(dim_sizes)
        for x, names in zip(results, expected_output_core_dims, strict=True):
            if np.ndim(x) != len(names):
                raise ValueError(
                    f"output shape {np.shape(x)} does not match core dimensions {names} "
                    f"{error_context}"
                )
            _meet(sizes, names, np.shape(x), error_context)
        return out

    return checked
