"""Elements chosen from several arrays, or computed by one of several functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array
from irax.core.dispatch import staged
from irax.core.dtypes.operands import as_arrays, judge_ranks
from irax.core.dtypes.promotion import broadcast_to, convert, promote_dtypes
from irax.core.dtypes.python_ints import fitted
from irax.core.places import widened, within, wrapped
from irax.numpy.elementwise.logic import equal, not_equal, where
from irax.numpy.tables import no_out
from irax.numpy.vectorization import vectorize
from irax.typing import ArrayLike


def select(
    condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0
) -> Array:
    """Return, for each element, that of the first choice whose condition holds, or `default` if
    none does.

    Args:
        condlist: a list of boolean arrays.
        choicelist: a list of as many arrays; all broadcast to one shape.
        default: an array, or a number.

    Raises:
        ValueError: no conditions, or not a choice for each.

    >>> x = irax.numpy.arange(5)
    >>> irax.numpy.select([x < 2, x > 3], [x, 10 * x], -1)
    Array([ 0,  1, -1, -1, 40], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: expected a choice for each condition, got {len(condlist)} conditions and "
            f"{len(choicelist)} choices"
        )
    *choices, result = promote_dtypes(*choicelist, default, what="select")
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = where(condition, choice, result)
    return result


def choose(
    a: ArrayLike,
    choices: Array | np.ndarray[Any, Any] | Iterable[ArrayLike],
    out: None = None,
    mode: str = "raise",
) -> Array:
    """Choose each element from one of several arrays: `choices[a[i]][i]` for each index i.

    Args:
        a: integers.
        choices: arrays; all are broadcast with `a`.
        out: not supported.
        mode: for integers out of range: "clip": the nearest array; "wrap": the integer modulo their
            number; "raise": a ValueError, which needs known integers.

    Raises:
        ValueError: not integers, no choices, an integer out of range with "raise", or another mode.
        ConcretizationTypeError: traced integers with "raise".

    >>> choices = irax.numpy.array([[1, 2, 3], [10, 20, 30]])
    >>> irax.numpy.choose(irax.numpy.array([0, 1, 0]), choices)
    Array([ 1, 20,  3], dtype=int32)
    """
    no_out("choose", out)
    (number,) = as_arrays([a], "choose")
    if not dtypes.issubdtype(number.dtype, np.integer):
        raise ValueError(f"choose: expected integers to choose by, got {number.dtype}")
    parts = choices if isinstance(choices, Array | np.ndarray) else list(choices)
    arrays = promote_dtypes(*(parts[i] for i in range(len(parts))), what="choose")
    if mode == "raise":
        why = "choose with mode 'raise' needs the integers; give mode='clip' or 'wrap'"
        known = number.concrete(why, errors.ConcretizationTypeError)
        if known.size and not 0 <= known.min() <= known.max() < len(arrays):
            raise ValueError(f"choose: expected integers from 0 to {len(arrays) - 1}, got {known}")
        number = widened(number, len(arrays))
    elif mode == "clip":
        number = within(number, len(arrays))
    elif mode == "wrap":
        number = wrapped(number, len(arrays))
    else:
        raise ValueError(f"choose: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    result = arrays[0]
    for i, choice in enumerate(arrays):
        result = where(equal(number, i), choice, result)
    return result


def piecewise(
    x: ArrayLike,
    condlist: Array | np.ndarray[Any, Any] | Sequence[ArrayLike],
    funclist: Sequence[ArrayLike | Callable[..., Array]],
    *args: Any,
    **kw: Any,
) -> Array:
    """Evaluate a piecewise function: for each element the function whose condition holds, the last
    of several.

    Args:
        x: an array.
        condlist: booleans, of the shape of x, for each of the functions.
        funclist: functions of an element, or numbers. One more than conditions is for the
            remaining elements, which are 0 otherwise. Each function is computed for all elements.
        args: further arguments of the functions.
        kw: likewise.

    Returns:
        An array of the dtype of x.

    Raises:
        ValueError: not a function for each condition.

    >>> x = irax.numpy.array([-2.0, 0.5, 3.0])
    >>> irax.numpy.piecewise(x, [x < 0, x > 1], [-1.0, lambda x: 10 * x, 0.0])
    Array([-1.,  0., 30.], dtype=float32)
    """
    (values,) = as_arrays([x], "piecewise")
    single = isinstance(condlist, Array | np.ndarray) and condlist.ndim <= values.ndim
    is_list = not isinstance(condlist, Array | np.ndarray)
    single = single or (is_list and values.ndim > 0 and _is_flag(condlist[0]))
    conditions = [condlist] if single else [condlist[i] for i in range(len(condlist))]
    masks = []
    for condition in conditions:
        if isinstance(condition, list):
            condition = np.asarray(condition)
        (mask,) = as_arrays([condition], "piecewise")
        masks.append(mask if mask.dtype == np.bool else not_equal(mask, 0))
    judge_ranks([values, *masks], "piecewise")
    functions: list[Any] = list(funclist)
    if len(functions) == len(masks):
        functions.append(0)
    if len(functions) != len(masks) + 1:
        raise ValueError(
            f"piecewise: expected {len(masks)} functions, one for each condition, or one more, got "
            f"{len(funclist)}"
        )

    def branch(function: Any) -> Callable[[Array], Array]:
        def of_element(x: Array) -> Array:
            value = function(x, *args, **kw) if callable(function) else function
            (value,) = as_arrays([fitted(value, values.dtype, "piecewise")], "piecewise")
            return broadcast_to(convert(value, values.dtype), x.shape)

        return of_element

    def at_once() -> Array:
        # No derivative is taken of this: elements may be chosen from the results of all functions.
        # Numbers need no call for each element.
        *chosen, result = (
            vectorize(branch(f))(values) if callable(f) or np.ndim(f) else branch(f)(values)
            for f in functions
        )
        for mask, part in zip(masks, chosen, strict=True):
            result = where(mask, part, result)
        return result

    def switched() -> Array:
        number: Any = len(masks)
        for i, mask in enumerate(masks):
            number = where(mask, i, number)
        # As branches, functions have no derivatives at elements that another one is for.
        chosen = vectorize(lambda i, x: lax.switch(i, [branch(f) for f in functions], x))
        return chosen(number, values)

    return staged(at_once, lambda _: switched(), [values, *masks])


def _is_flag(x: Any) -> bool:
    """Return True for a boolean scalar: a list of these is one mask."""
    return isinstance(x, bool | np.bool)
