"""Collectives as host functions of compiled programs.

A function takes the rank's array and returns another one. Its parameters, which the program has as
text and numbers, are described at each function. `groups` is a list such as "0,1;2,3" of the ranks
that communicate with each other.

A collective whose result is needed later may be two calls: `begin` starts it, `await` has the
result. The rank computes in between. Collectives take place in the order in which they begin: so
those that wait for their result first wait for those that have begun.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from irax_runtime.communication.communicator import Array, Group
from irax_runtime.communication.current import communicating, current


def all_reduce(x: Array, *, combiner: str, groups: str, in_order: str = "") -> Array:
    """The sum, maximum or minimum over the group ("add", "maximum" or "minimum"). With `in_order`
    the arrays are combined in the group's order.
    """
    own = current()
    combine = own.all_reduce_in_order if in_order else own.all_reduce
    return combine(x, combiner, _by_rank(groups)[own.rank])


def all_gather(x: Array, *, dimension: int, groups: str) -> Array:
    """The arrays of the group, stacked along the new dimension `dimension`."""
    return np.moveaxis(current().all_gather(x, _group(groups)), 0, dimension)


def reduce_scatter(x: Array, *, dimension: int, groups: str, in_order: str = "") -> Array:
    """A part of the sum over the group: `dimension` has a part for each rank. With `in_order` the
    arrays are added in the group's order.
    """
    own = current()
    parts_first = np.ascontiguousarray(np.moveaxis(x, dimension, 0))
    scatter = own.reduce_scatter_in_order if in_order else own.reduce_scatter
    return scatter(parts_first, _group(groups))


def all_to_all(x: Array, *, split: int, concat: int, groups: str) -> Array:
    """The parts for this rank, stacked along the new dimension `concat`; the argument's dimension
    `split` has a part for each rank.
    """
    parts_first = np.ascontiguousarray(np.moveaxis(x, split, 0))
    return np.moveaxis(current().all_to_all(parts_first, _group(groups)), 0, concat)


def permute(x: Array, *, sources: str, groups: str) -> Array:
    """The array of another rank, or zeros; `sources` is a list such as "1,-1" of places in the
    group.
    """
    return current().permute(x, _numbers(sources), _group(groups))


def rank() -> Array:
    """The number of this rank, an int32."""
    return np.array(current().rank, np.int32)


def begin(x: Array, *, collective: str, **parameters: Any) -> Array:
    """The ticket of a collective that begins, an int32. Nobody writes to the array before its
    result is awaited.
    """
    own = current()

    def communicate() -> Array:
        with communicating(own):
            return _COLLECTIVES[collective](x, **parameters)

    return np.array(own.begun.begin(communicate), np.int32)


def outcome(ticket: Array, _x: Array) -> Array:
    """The result of a collective that has begun with an array."""
    return current().begun.outcome(int(ticket))


def _in_turn(collective: Callable[..., Array]) -> Callable[..., Array]:
    """A collective that takes place behind those that have begun."""

    @wraps(collective)
    def communicate(*arrays: Array, **parameters: Any) -> Array:
        current().begun.settle()
        return collective(*arrays, **parameters)

    return communicate


_COLLECTIVES: dict[str, Callable[..., Array]] = {
    function.__name__: function
    for function in (all_reduce, all_gather, reduce_scatter, all_to_all, permute)
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _in_turn(function) for name, function in _COLLECTIVES.items()},
    "rank": rank,
    "begin": begin,
    "await": outcome,
}
"""The functions by name. All ranks run the same code, so they call them in the same order."""


def _group(groups: str) -> Group:
    """The group of this rank."""
    return _by_rank(groups)[current().rank]


@cache
def _by_rank(groups: str) -> dict[int, Group]:
    """The group of each rank."""
    found = [_numbers(group) for group in groups.split(";")]
    return {rank: group for group in found for rank in group}


@cache
def _numbers(text: str) -> Group:
    return tuple(int(number) for number in text.split(","))
