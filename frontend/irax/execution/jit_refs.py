"""Jitted functions that touch mutable arrays.

What is compiled is a function of the Refs' values, which also returns the values at the end. Which
Refs from outside a function touches is found once for each signature.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from irax.config import config
from irax.core import array_trees, axis_names, refs
from irax.core.array import Array, aval_of
from irax.core.flattening import abstract_inputs
from irax.execution.bound_call import OTHER
from irax.execution.jit_parameters import signature_of

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Jits a function in the way of the one that was called."""


class RefPrograms(dict[Any, Any]):
    """The calls of a function that are known, by signature: None for those that touch no Refs; for
    others the compiled function of values, and the Refs from outside.
    """


def call(
    function: Callable[..., Any],
    known: RefPrograms,
    compile: Compile,
    leaves: Sequence[Any],
    tree: Any,
    static: tuple[Any, ...],
) -> Any:
    """Call a jitted function that touches Refs; return `OTHER` if it touches none.

    Args:
        function: the user's function, without static arguments.
        known: what earlier calls found.
        compile: jits a function that touches none.
        leaves: the leaves of the arguments.
        tree: their structure.
        static: the static arguments.
    """
    if refs.is_recording():
        args, kwargs = array_trees.tree_unflatten(tree, leaves)
        return function(*args, **kwargs)
    state = tree, static, config.traced, axis_names.bound()
    try:
        key = (*state, *map(_type_of, leaves))
        hash(key)
    except TypeError:  # of what is no array, as the call without Refs will say
        return OTHER
    args, kwargs = array_trees.tree_unflatten(tree, leaves)
    boxed = refs.Arguments.of("jit", args, kwargs)
    if key not in known:
        outside = _touched(function, leaves, tree, boxed)
        if boxed is None and not outside:
            known[key] = None
        else:
            held = refs.Functional(outside)
            known[key] = compile(_functional(function, boxed, held)), held
    if known[key] is None:
        return OTHER
    compiled, held = known[key]
    if boxed is not None:
        args, kwargs = boxed.args, boxed.kwargs
    out, own, values = compiled(held.values, *args, **kwargs)
    if boxed is not None:
        boxed.refs.write(own)
    held.write(values)
    return out


def _type_of(leaf: Any) -> Any:
    return leaf.aval if isinstance(leaf, refs.Ref) else signature_of(leaf)


def _touched(
    function: Callable[..., Any], leaves: Sequence[Any], tree: Any, boxed: refs.Arguments | None
) -> list[refs.Ref]:
    """The Refs from outside that a call reads or writes."""
    places = frozenset() if boxed is None else boxed.places

    def run(*arrays: Array) -> None:
        given = [refs.Ref(x) if i in places else x for i, x in enumerate(arrays)]
        args, kwargs = array_trees.tree_unflatten(tree, given)
        function(*args, **kwargs)

    given = [x.value if isinstance(x, refs.Ref) else x for x in leaves]
    names = [f"argument {i}" for i in range(len(given))]
    return refs.touched(run, abstract_inputs([aval_of(x) for x in given], names))


def _functional(
    function: Callable[..., Any], boxed: refs.Arguments | None, held: refs.Functional
) -> Callable[..., Any]:
    inner = function if boxed is None else boxed.of_arrays("jit", function)

    @functools.wraps(function, updated=())
    def pure(values: Sequence[Array], *args: Any, **kwargs: Any) -> Any:
        out, at_end = held.of(inner)(values, *args, **kwargs)
        return (out, [], at_end) if boxed is None else (*out, at_end)

    return pure
