"""Functions that touch Refs, as functions of the Refs' values.

A Ref's *state* is its value, then its token where that is passed (see `refs`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from irax.core.array import Array, as_array
from irax.core.refs import hi_values, refs
from irax.core.refs.hi_types import is_mutable
from irax.core.refs.hi_values import Lowered
from irax.core.refs.refs import Adopted, Given, Ref
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of, returned_array, returned_arrays

T = TypeVar("T")


@dataclass
class Functional:
    """Refs that functions touch, which are given to them as arrays instead."""

    refs: Mapping[Ref, bool]
    """The Refs, with True for those whose tokens are passed."""

    @property
    def states(self) -> list[list[Array]]:
        """The states now."""
        return [state_of(ref, passed) for ref, passed in self.refs.items()]

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the states, then of the function's arguments, to the function's
        result and the states at the end.
        """

        @functools.wraps(function, updated=())
        def pure(states: Sequence[Sequence[Array]], *args: Any, **kwargs: Any) -> Any:
            with _all_holding(list(self.refs), states):
                return function(*args, **kwargs), self.states

        return pure

    def write(self, states: Sequence[Sequence[Array]]) -> None:
        """Write the states at the end."""
        for ref, (value, *token) in zip(self.refs, states, strict=True):
            if value is not ref.value:
                ref.assign(value)
            ref.pass_token(token)


def state_of(ref: Ref, with_token: bool) -> list[Array]:
    """Return the state of a Ref."""
    token = ref.token if with_token else []
    return [ref.value, *token]


@contextmanager
def _all_holding(refs: Sequence[Ref], states: Sequence[Sequence[Array]]) -> Iterator[None]:
    if not refs:
        yield
        return
    value, *token = states[0]
    with refs[0].holding(value, token or None), _all_holding(refs[1:], states[1:]):
        yield


@dataclass(frozen=True)
class Result(Generic[T]):
    """The result of an operation that touches no Refs from outside."""

    value: T


def touched_by(operation: Callable[[], T]) -> Functional | Result[T]:
    """Return the Refs that an operation touches, such as a loop; its result if there are none."""
    if done := refs.attempt(operation):
        return Result(*done)
    found = refs.touched(operation)
    return Functional(found) if found else Result(operation())


# ---- arguments -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arguments:
    """Arguments of a call, some of whose leaves are Refs."""

    refs: Functional
    args: Any
    kwargs: Any
    """The arguments, with states in place of Refs; values, if no tokens are passed."""
    tree: Any
    """The structure of the arguments with Refs."""
    places: Sequence[int]
    """The leaves that are Refs."""

    @staticmethod
    def of(what: str, args: Any, kwargs: Any, with_tokens: bool = False) -> Arguments | None:
        """Return the arguments of a call, or None if no leaf is a Ref.

        Raises:
            ValueError: one Ref is two arguments.
        """
        leaves, tree = array_trees.tree_flatten((args, kwargs))
        own = {i: _refs_of(x) for i, x in enumerate(leaves) if _is_mutable(x)}
        if not own:
            return None
        found = [ref for each in own.values() for ref in each]
        _check_distinct(what, found)
        for place, each in own.items():
            states = [state_of(ref, True) if with_tokens else ref.value for ref in each]
            is_ref = isinstance(leaves[place], Ref)
            leaves[place] = states[0] if is_ref else hi_values.lowered(leaves[place], states)
        args, kwargs = array_trees.tree_unflatten(tree, leaves)
        return Arguments(Functional(dict.fromkeys(found, with_tokens)), args, kwargs, tree, [*own])

    def boxed(self, what: str, args: Any, kwargs: Any) -> tuple[list[Ref], Any, Any]:
        """Return Refs in a function for those of the call, and the arguments with them."""
        return self.boxed_leaves(what, self.tree.flatten_up_to((args, kwargs)))

    def boxed_leaves(self, what: str, leaves: Sequence[Any]) -> tuple[list[Ref], Any, Any]:
        """`boxed`, given the leaves of the arguments, states in place of Refs."""
        leaves = list(leaves)
        with_tokens = any(self.refs.refs.values())
        boxes: list[Ref] = []
        for place in self.places:
            given = leaves[place]
            parts = given.parts if isinstance(given, Lowered) else [given]
            states = parts if with_tokens else [[part] for part in parts]
            values = [as_array(value, what) for value, *_ in states]
            if isinstance(given, Lowered):
                held = given.raised(values)
                leaves[place], made = held.value, held.parts
            else:
                made = [Ref(values[0])]
                (leaves[place],) = made
            boxes += [
                refs.boxed(box, token or None)
                for box, (_, *token) in zip(made, states, strict=True)
            ]
        return boxes, *array_trees.tree_unflatten(self.tree, leaves)

    def of_arrays(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of states in place of Refs, to the function's result and the states of
        the Refs at the end.
        """

        @functools.wraps(function, updated=())
        def pure(*args: Any, **kwargs: Any) -> tuple[Any, list[list[Array]]]:
            boxes, args, kwargs = self.boxed(what, args, kwargs)
            out = function(*args, **kwargs)
            check_no_refs(what, out)
            passed = self.refs.refs.values()
            return out, [state_of(x, p) for x, p in zip(boxes, passed, strict=True)]

        return pure


def _is_mutable(x: Any) -> bool:
    return isinstance(x, Ref) or is_mutable(x)


def _refs_of(x: Any) -> Sequence[Ref]:
    return [x] if isinstance(x, Ref) else hi_values.held(x).parts


def _check_distinct(what: str, given: Sequence[Ref]) -> None:
    roots = {ref.root for ref in given}
    if len(roots) != len(given):
        raise ValueError(
            f"{what}: only one reference to a mutable array may be an argument; got "
            f"{len(given)} arguments that are {len(roots)} Refs"
        )


def apart(
    what: str,
    given: Any,
    stand_in: Callable[[Ref], Any],
    back: Callable[[Ref, Any], Ref],
) -> tuple[Any, Callable[[Any], Any]]:
    """Return a pytree with other leaves in place of its Refs, and a function that puts Refs back
    into pytrees like it: `back(ref, leaf)`.

    Raises:
        ValueError: one Ref is two leaves.
    """
    leaves, tree = array_trees.tree_flatten(given)
    found = {i: x for i, x in enumerate(leaves) if isinstance(x, Ref)}
    _check_distinct(what, list(found.values()))

    def restored(like: Any) -> Any:
        parts: list[Any] = tree.flatten_up_to(like)
        for place, ref in found.items():
            parts[place] = back(ref, parts[place])
        return array_trees.tree_unflatten(tree, parts)

    if not found:
        return given, lambda like: like
    for place, ref in found.items():
        leaves[place] = stand_in(ref)
    return array_trees.tree_unflatten(tree, leaves), restored


def check_no_refs(what: str, out: Any) -> None:
    """Raises ValueError for a function that returned a Ref."""
    if any(isinstance(x, Ref) for x in array_trees.tree_leaves(out)):
        for path, x in array_trees.tree_leaves_with_path(out):
            if isinstance(x, Ref):
                returned_array(x, f"{what}: result{array_trees.keystr(path)}")


# ---- functions that are traced once --------------------------------------------------------------


@dataclass
class Token:
    """A Ref to which a backward pass may write, in a function that was traced once."""

    ref: Ref
    given: Sequence[Given]
    """The arrays that the trace captured for its token."""


@dataclass
class Found:
    """The Refs that a function has touched which `traced_once` made: filled in when it has run."""

    own: list[Ref]
    """The Refs among its arguments."""
    written: list[Ref] = field(default_factory=list[Ref])
    """The Refs from outside that it wrote to."""
    values: dict[Ref, Given] = field(default_factory=dict[Ref, Given])
    """The arrays that the trace captured for those from outside, where it is abstract."""
    tokens: list[Token] = field(default_factory=list[Token])

    def write(self, values: Sequence[Array]) -> None:
        """Write the values at the end."""
        for ref, value in zip([*self.own, *self.written], values, strict=True):
            if value is not ref.value:
                ref.assign(value)


def traced_once(
    what: str,
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    abstract: bool = False,
) -> tuple[Callable[..., Any], Any, Any, Found]:
    """Return a function without Refs for a call with some, to be traced once: the function, which
    returns the values of Refs at the end beside its result, then the tokens; its arguments; and the
    Refs, which are known when the function has run.
    """
    boxed = Arguments.of(what, args, kwargs)
    found = Found([] if boxed is None else list(boxed.refs.refs))

    @functools.wraps(function, updated=())
    def pure(*given: Any, **named: Any) -> tuple[Any, list[Array], list[list[Array]]]:
        with Adopted(abstract, found.own) as adopted:
            boxes: list[Ref] = []
            if boxed is not None:
                boxes, given, named = boxed.boxed(what, given, named)
            out = function(*given, **named)
            if abstract:
                arrays, tree = returned_arrays(out, f"{name_of(function)}: result")
                out = array_trees.tree_unflatten(tree, arrays)
            else:
                check_no_refs(what, out)
            written = adopted.written()
            users = dict(zip(boxes, found.own, strict=True))
            found.tokens = [Token(users.get(x, x), arrays) for x, arrays in adopted.tokens.items()]
            found.written, found.values = list(written), adopted.values
            values = [*(box.value for box in boxes), *written.values()]
            return out, values, [x.token for x in adopted.tokens]

    return pure, *((args, kwargs) if boxed is None else (boxed.args, boxed.kwargs)), found
