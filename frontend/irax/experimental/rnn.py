"""LSTMs of several layers, forwards or in both directions, with weights in cuDNN's order.

    weights = init_lstm_weight(key, input_size, hidden_size, num_layers, bidirectional)
    y, h, c = lstm(x, h_0, c_0, weights, lengths, input_size, hidden_size, num_layers, 0.0,
                   bidirectional)

The weights are one array: for each layer and direction the matrices of the inputs and of the hidden
state, then for each the biases of both. Each has rows for the gates i, f, g and o, in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax, nn, random
from irax.core.array import Array
from irax.core.tracebacks import api_boundary

Parts = tuple[dict[int, Array], dict[int, Array], dict[int, Array], dict[int, Array]]
"""The matrices of the inputs, those of the hidden state, and the biases of both, by the numbers of
the layers; with two directions those are `2 * layer + direction`."""


def _shapes(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The parts of the weights in their order: which of the four, the number, and the shape."""
    directions = 2 if bidirectional else 1
    count, rows = num_layers * directions, 4 * hidden_size
    for number in range(count):
        columns = input_size if number < directions else hidden_size * directions
        yield 0, number, (rows, columns)
        yield 1, number, (rows, hidden_size)
    for number in range(count):
        yield 2, number, (rows,)
        yield 3, number, (rows,)


def get_num_params_in_lstm(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> int:
    """Return the number of weights.

    Args:
        input_size: the size of a row of the input.
        hidden_size: the size of the hidden state.
        num_layers: the number of layers.
        bidirectional: True for layers in both directions.

    >>> irax.experimental.rnn.get_num_params_in_lstm(3, 4, 2, False)
    304
    """
    sizes = input_size, hidden_size, num_layers, bidirectional
    return sum(int(np.prod(shape)) for *_, shape in _shapes(*sizes))


def init_lstm_weight(
    rng: Any, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array:
    """Return random weights, uniform up to `1 / sqrt(hidden_size)`.

    Args:
        rng: a key.
        input_size: the size of a row of the input.
        hidden_size: the size of the hidden state.
        num_layers: the number of layers.
        bidirectional: True for layers in both directions.
    """
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    largest = np.sqrt(1.0 / hidden_size)
    return random.uniform(rng, (count,), jnp.float32, -largest, largest)


def unpack_lstm_weights(
    weights: Array, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Parts:
    """Return the matrices and biases that weights are made of.

    Args:
        weights: the weights, an array of one dimension.
        input_size: the size of a row of the input.
        hidden_size: the size of the hidden state.
        num_layers: the number of layers.
        bidirectional: True for layers in both directions.
    """
    parts: Parts = ({}, {}, {}, {})
    at = 0
    for kind, number, shape in _shapes(input_size, hidden_size, num_layers, bidirectional):
        size = int(np.prod(shape))
        parts[kind][number] = weights[at : at + size].reshape(shape)
        at += size
    return parts


def swap_lstm_gates(
    weights: Array, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array:
    """Return weights with the rows of two gates exchanged: i, f, o, g instead of i, f, g, o.

    Args:
        weights: the weights, an array of one dimension.
        input_size: the size of a row of the input.
        hidden_size: the size of the hidden state.
        num_layers: the number of layers.
        bidirectional: True for layers in both directions.
    """
    sizes = input_size, hidden_size, num_layers, bidirectional
    parts = unpack_lstm_weights(weights, *sizes)
    swapped = []
    for kind, number, _ in _shapes(*sizes):
        i, f, g, o = jnp.split(parts[kind][number], 4)
        swapped.append(jnp.concatenate([i, f, o, g]).reshape(-1))
    return jnp.concatenate(swapped)


@api_boundary
def lstm(
    x: Array,
    h_0: Array,
    c_0: Array,
    weights: Array,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: Any = None,
) -> tuple[Array, Array, Array]:
    """Return the outputs of an LSTM, and the hidden and the cell state of each layer at the end.

    Args:
        x: the inputs, of shape (batch, time, input_size).
        h_0: the first hidden state, of shape (layers * directions, batch, hidden_size).
        c_0: the first cell state, likewise.
        weights: the weights, in cuDNN's order.
        seq_lengths: the number of steps of each sequence; outputs after them are zero.
        input_size: the size of a row of the input.
        hidden_size: the size of the hidden state.
        num_layers: the number of layers.
        dropout: must be 0.
        bidirectional: True for layers in both directions.
        precision: the precision of the products.

    Raises:
        NotImplementedError: `dropout` is not 0.

    >>> w = irax.experimental.rnn.init_lstm_weight(irax.random.key(0), 3, 4, 1, False)
    >>> h = jnp.zeros((1, 2, 4))
    >>> lengths = jnp.array([5, 3])
    >>> y, h, c = irax.experimental.rnn.lstm(
    ...     jnp.ones((2, 5, 3)), h, h, w, lengths, 3, 4, 1, 0.0, False
    ... )
    >>> y.shape
    (2, 5, 4)
    """
    parts = unpack_lstm_weights(weights, input_size, hidden_size, num_layers, bidirectional)
    return _lstm(x, h_0, c_0, parts, seq_lengths, dropout, bidirectional, precision)


@api_boundary
def lstm_ref(
    x: Array,
    h_0: Array,
    c_0: Array,
    W_ih: dict[int, Array],
    W_hh: dict[int, Array],
    b_ih: dict[int, Array],
    b_hh: dict[int, Array],
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Array, Array, Array]:
    """Return what `lstm` does, for the parts of the weights that `unpack_lstm_weights` returns.

    Args:
        x: the inputs, of shape (batch, time, input_size).
        h_0: the first hidden state, of shape (layers * directions, batch, hidden_size).
        c_0: the first cell state, likewise.
        W_ih: the matrices of the inputs.
        W_hh: the matrices of the hidden state.
        b_ih: the biases of the inputs.
        b_hh: the biases of the hidden state.
        seq_lengths: the number of steps of each sequence.
        input_size: of no effect: the matrices tell it.
        hidden_size: of no effect.
        num_layers: of no effect.
        dropout: must be 0.
        bidirectional: True for layers in both directions.

    Raises:
        NotImplementedError: `dropout` is not 0.
    """
    return _lstm(x, h_0, c_0, (W_ih, W_hh, b_ih, b_hh), seq_lengths, dropout, bidirectional, None)


def _lstm(
    x: Array,
    h_0: Array,
    c_0: Array,
    parts: Parts,
    seq_lengths: Array,
    dropout: float,
    bidirectional: bool,
    precision: Any,
) -> tuple[Array, Array, Array]:
    if dropout != 0:
        raise NotImplementedError(
            "rnn.lstm: dropout must be 0: drop elements between layers of one's own, by irax.random"
        )
    directions = 2 if bidirectional else 1
    steps = jnp.arange(x.shape[1])
    present = (steps[:, None] < jnp.asarray(seq_lengths)[None, :])[..., None]
    values, hidden, cells = jnp.swapaxes(x, 0, 1), [], []
    for layer in range(len(parts[0]) // directions):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            weights = tuple(part[number] for part in parts)
            start = h_0[number], c_0[number]
            y, (h, c) = _layer(values, present, start, weights, bool(direction), precision)
            outputs.append(y)
            hidden.append(h)
            cells.append(c)
        values = jnp.concatenate(outputs, -1)
    return jnp.swapaxes(values, 0, 1), jnp.stack(hidden), jnp.stack(cells)


def _layer(
    x: Array,
    present: Array,
    start: tuple[Array, Array],
    weights: tuple[Array, ...],
    reverse: bool,
    precision: Any,
) -> tuple[Array, tuple[Array, Array]]:
    """Return the outputs of a layer in one direction, and its last state. Steps that are not
    `present` leave the state as it is.
    """
    w_ih, w_hh, b_ih, b_hh = weights
    driven = jnp.matmul(x, w_ih.T, precision=precision) + (b_ih + b_hh)

    def step(state: tuple[Array, Array], row: tuple[Array, Array]) -> Any:
        (h, c), (inputs, is_there) = state, row
        i, f, g, o = jnp.split(inputs + jnp.matmul(h, w_hh.T, precision=precision), 4, -1)
        cell = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        new = nn.sigmoid(o) * jnp.tanh(cell)
        kept = jnp.where(is_there, new, h), jnp.where(is_there, cell, c)
        return kept, jnp.where(is_there, new, jnp.zeros_like(new))

    state, y = lax.scan(step, start, (driven, present), reverse=reverse)
    return y, state
