"""check: a check of a function's own, which `checkify` makes part of its results."""

from __future__ import annotations

from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import tree_util
from irax.core import source
from irax.core.array import Array, as_array
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
from irax.experimental.checkify.errors import Error, FailedCheckError, JaxRuntimeError, Site
from irax.extend.primitive import Primitive
from irax.extend.rules import batching_rules, jvp_rules, lowerings

check_p: Primitive = Primitive("check")
"""A check whose operands are the condition and the payload: `site`, and `debug` if it holds outside
of `checkify`."""
check_p.multiple_results = True


@api_boundary
def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Check a condition. In a function of `checkify`, a failure is part of the result; elsewhere it
    is an error at once.

    Args:
        pred: a boolean scalar.
        msg: the message for where it is False: a format for the arguments that follow.
        fmt_args: arrays, for `{}`.
        debug: True checks in functions of `checkify` alone, as `debug_check` does.
        fmt_kwargs: arrays by name, for `{name}`.

    Raises:
        TypeError: `pred` is no boolean scalar, `msg` is no string, the others are no arrays.
        JaxRuntimeError: the condition does not hold, outside of traces.
    """
    _check(pred, msg, debug, fmt_args, fmt_kwargs)


@api_boundary
def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """Check a condition in functions of `checkify`, and nowhere else; otherwise like `check`.

    Args:
        pred: a boolean of shape ().
        msg: the message, a format string.
        fmt_args: arrays that the format shows.
        fmt_kwargs: arrays that the format names.

    Raises:
        TypeError: `pred` is not a boolean, `msg` not a text, or what it shows not an array.

    >>> from irax.experimental import checkify
    >>> checkify.debug_check(False, "not checked outside of checkify")
    >>> def f(x):
    ...     checkify.debug_check(x > 0, "not positive")
    ...     return x
    >>> checkify.checkify(f)(-1.0)[0].get()
    'not positive (`check` failed)'
    """
    _check(pred, msg, True, fmt_args, fmt_kwargs)


def _check(pred: Any, msg: str, debug: bool, args: Any, kwargs: Any) -> None:
    array = as_array(pred, "checkify.check: pred")
    if array.dtype != np.bool or array.ndim:
        raise TypeError(
            f"checkify.check: pred must be a boolean scalar, got {array.aval}; reduce an array "
            "with irax.numpy.all"
        )
    if not isinstance(msg, str):
        raise TypeError(f"checkify.check: msg must be a string, got {msg!r}")
    for leaf in tree_util.tree_leaves((args, kwargs)):
        if not isinstance(leaf, Array | np.ndarray | np.generic):
            raise TypeError(
                f"checkify.check: what msg shows must be arrays, got {leaf!r} of type "
                f"{type(leaf).__name__}: write it into the message, or make it an array"
            )
    leaves, structure = array_trees.tree_flatten((args, kwargs))  # a key is its words
    arrays = [as_array(x) for x in leaves]
    types = tuple(x.aval for x in arrays)
    site = Site(FailedCheckError, msg, structure, types, source.user_line())
    check_p.bind(array, *arrays, site=site, debug=debug)


@check_p.def_impl
def _run(pred: Any, *payload: Any, site: Site, debug: bool) -> list[Any]:
    if not (debug or bool(pred)):
        raise JaxRuntimeError(site.text(payload))
    return []


@check_p.def_abstract_eval
def _types(*avals: Any, **params: Any) -> list[Any]:
    return []


def _lowered(*operands: Any, site: Site, debug: bool) -> list[Any]:
    if not debug:
        raise ValueError(
            f"checkify.check: the check of {site.message!r} is in a function that is compiled, and "
            "nothing tells of its failure: put checkify.checkify around the function"
        )
    return []


def _jvp(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
    return check_p.bind(*primals, **params), []


def _batch(operands: Any, axes: Any, **params: Any) -> tuple[Any, Any]:
    """The first lane that fails stands for all."""
    lanes = [
        x if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(operands, axes, strict=True)
    ]
    (pred, *payload), (mapped, *others) = lanes, axes
    lane = 0 if mapped is None else jnp.argmin(pred)
    chosen = [x if axis is None else x[lane] for x, axis in zip(payload, others, strict=True)]
    return check_p.bind(pred if mapped is None else pred.all(), *chosen, **params), []


lowerings[check_p] = _lowered
jvp_rules[check_p] = _jvp
batching_rules[check_p] = _batch


def check_error(error: Error) -> None:
    """Check that an error tells of no failure, as `check` checks a condition.

    Args:
        error: an `Error`, such as a function of `checkify` returns.

    Raises:
        JaxRuntimeError: it does, outside of traces.

    >>> from irax.experimental import checkify
    >>> error, _ = checkify.checkify(lambda x: x)(1.0)
    >>> checkify.check_error(error)
    """
    leaves = error.leaves
    if not any(hasattr(as_array(x), "home") for x in leaves):
        error.throw()
        return
    payload: list[Any] = leaves[1:]
    for site in error.sites:
        own, payload = payload[: len(site.avals)], payload[len(site.avals) :]
        failed = leaves[0] == site.number
        check_p.bind(~failed, *own, site=site, debug=False)
