"""The stages of library functions, such as `irax.numpy.sin.lower(x)`: those of `jit`.

Replayed functions have these methods (`replay`), as their namesakes of JAX do that are jitted.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from irax.core.trees import array_trees

_jit: Callable[..., Any]


def stages_by(jit: Callable[..., Any]) -> None:
    """Set the function that compiles functions, which imports this module."""
    global _jit
    _jit = jit


def jitted(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the function under `jit`, with those arguments static that are no operands, as axes
    and dtypes are. Integers are operands where the parameter takes arrays.
    """
    operands = _operands(function)
    positional = [name for name in operands if name not in kwargs]
    names = [positional[min(i, len(positional) - 1)] for i in range(len(args))]
    positions = tuple(
        i
        for i, (x, name) in enumerate(zip(args, names, strict=True))
        if _is_static(x, operands[name])
    )
    static = (name for name, x in kwargs.items() if _is_static(x, operands.get(name, False)))
    return _with_statics(function, positions, tuple(sorted(static)))


@functools.lru_cache(maxsize=256)
def _with_statics(
    function: Callable[..., Any], positions: tuple[int, ...], names: tuple[str, ...]
) -> Any:
    return _jit(function, static_argnums=positions or None, static_argnames=names or None)


@functools.lru_cache(maxsize=256)
def _operands(function: Callable[..., Any]) -> Mapping[str, bool]:
    """Return for each parameter, in order, True if it takes arrays."""
    return {
        name: parameter.kind is parameter.POSITIONAL_ONLY
        or "ArrayLike" in str(parameter.annotation)
        for name, parameter in inspect.signature(function).parameters.items()
    }


def _is_static(x: Any, is_operand: bool) -> bool:
    numbers = (float, complex, int) if is_operand else (float, complex)
    return not any(
        isinstance(leaf, numbers) or (hasattr(leaf, "shape") and hasattr(leaf, "dtype"))
        for leaf in array_trees.tree_leaves(x)
    )
