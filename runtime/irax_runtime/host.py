"""Functions that a compiled program calls on the host: NumPy's, where they are better than code.

A program with such calls has the reflection attribute `irax.host`, a list in JSON of what it
imports: the name of one of `FUNCTIONS`, its parameters, the types of arguments and of results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import iree.runtime as rt
import numpy as np

from irax_runtime.signature import TensorType, parse_signature

Array = np.ndarray[Any, Any]
Wrap = Callable[[Any, TensorType], Any]
"""Makes a buffer of IREE's reference to a view and the type it has."""
Put = Callable[[Array], Any]
"""Puts an array that nobody else writes to where the program can read it."""


def sort(x: Array, *, dimension: int) -> Array:
    """The numbers along a dimension in order, nan last; zeros of either sign as they were."""
    zeros = np.signbit(x[x == 0]) if x.dtype.kind == "f" else np.empty(0)
    mixed = zeros.any() and not zeros.all()
    return np.sort(x, dimension, kind="stable" if mixed else None)


def argsort(*keys: Array, dimension: int) -> Array:
    """The places of elements along a dimension in the order of the first key, where that ties of
    the second, and so on; where all tie, in their own.
    """
    return np.lexsort(keys[::-1], dimension).astype(np.int32)


def qr(x: Array) -> tuple[Array, ...]:
    """Q, with as many columns as x, and R."""
    return tuple(np.linalg.qr(x))


def eigh(x: Array) -> tuple[Array, ...]:
    """Eigenvectors, and eigenvalues in ascending order; nan where x is not finite."""
    if not np.isfinite(x).all():
        return np.full_like(x, np.nan), np.full(x.shape[:-1], np.nan, x.real.dtype)
    values, vectors = np.linalg.eigh(x)
    return vectors, values


def svd(x: Array) -> tuple[Array, ...]:
    """U, the singular values, and the adjoint of V; nan where x is not finite."""
    u, s, vh = np.linalg.svd(np.where(np.isfinite(x), x, 0), full_matrices=False)
    if not np.isfinite(x).all():
        return tuple(np.full_like(part, np.nan) for part in (u, s, vh))
    return u, s, vh


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argsort": argsort,
    "eigh": eigh,
    "qr": qr,
    "sort": sort,
    "svd": svd,
}
"""What programs may import, by name. Arguments are read-only; results are new arrays."""


def host_module(imports: str, wrap: Wrap, put: Put) -> Any:
    """The module that a program imports from: functions f0, f1, ... as `imports` lists them.

    Raises:
        ValueError: a function is not one of `FUNCTIONS`.
    """
    interface = rt.PyModuleInterface("irax_host", _State)
    for number, (name, parameters, arguments, results) in enumerate(json.loads(imports)):
        if name not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            raise ValueError(f"the program imports {name!r}; this runtime has {known}")
        types = parse_signature(arguments), parse_signature(results)
        convention = "0" + "_".join("r" * len(side) or "v" for side in types)
        function = _adapted(FUNCTIONS[name], parameters, types, wrap, put)
        interface.export(f"f{number}", convention, function)
    return interface.create()


class _State:
    """What each context of a program has of the module: nothing."""

    def __init__(self, interface: Any) -> None:
        pass


def _adapted(
    function: Callable[..., Any],
    parameters: dict[str, Any],
    types: tuple[Sequence[TensorType], Sequence[TensorType]],
    wrap: Wrap,
    put: Put,
) -> Callable[..., Any]:
    """The function as IREE calls it, of references to views of memory."""
    argument_types, result_types = types

    def call(state: _State, *references: Any) -> Any:
        arrays = map(wrap, references, argument_types)
        found = function(*(x.numpy() for x in arrays), **parameters)
        results = found if isinstance(found, tuple) else (found,)
        typed = [
            np.ascontiguousarray(x, type_.dtype).reshape(type_.shape)
            for x, type_ in zip(results, result_types, strict=True)
        ]
        made = tuple(put(x).ref for x in typed)
        return made[0] if len(made) == 1 else made

    return call
