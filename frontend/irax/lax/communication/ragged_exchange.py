"""Exchange of parts of different sizes between lanes."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax.core.array import Array
from irax.core.dtypes.promotion import select
from irax.lax.arguments import array_of
from irax.lax.communication import collectives
from irax.lax.structure import broadcast_in_dim


def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Any,
    axis_index_groups: collectives.Groups = None,
) -> Array:
    """Send rows of an array to other lanes, to each a number of its own.

    Args:
        operand: the array with the rows to send.
        output: the array of which rows are replaced by those that are received.
        input_offsets: for each lane, the first row of `operand` to send to it.
        send_sizes: for each lane, the number of rows to send to it.
        output_offsets: for each lane, the first row of its `output` that is replaced.
        recv_sizes: for each lane, the number of rows that it sends here.
        axis_name: the name of the mapped axis, or a tuple of names, which count as one axis.
        axis_index_groups: groups of lanes of one size that communicate by themselves.

    Returns:
        `output` with the rows that were received.

    Raises:
        NameError: nothing around gives an axis this name.

    >>> def swap(x):
    ...     own = irax.lax.axis_index("i")
    ...     starts, sizes, places = jnp.array([0, 1]), jnp.array([1, 1]), jnp.array([own, own])
    ...     return irax.lax.ragged_all_to_all(x, x, starts, sizes, places, sizes, axis_name="i")
    >>> irax.vmap(swap, axis_name="i")(jnp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    what = "lax.ragged_all_to_all"
    result = array_of(what, output)

    def gathered(value: Any) -> Array:
        return collectives.all_gather(
            array_of(what, value), axis_name, axis_index_groups=axis_index_groups
        )

    own = collectives.axis_index(axis_name)
    if axis_index_groups is not None:
        order = np.argsort(np.array(axis_index_groups).reshape(-1))
        own = array_of(what, np.asarray(order % len(axis_index_groups[0]), np.int32))[own]
    rows = gathered(operand)
    given = (input_offsets, send_sizes, output_offsets)
    starts, sizes, places = (gathered(value)[:, own] for value in given)
    numbers = array_of(what, np.arange(result.shape[0], dtype=np.int32))
    for source in range(rows.shape[0]):
        here = numbers - places[source]
        is_sent = (here >= 0) & (here < sizes[source])
        taken = rows[source][here * is_sent + starts[source] * is_sent]
        mask = broadcast_in_dim(is_sent, result.shape, (0,))
        result = select(mask, taken, result, what)
    return result
