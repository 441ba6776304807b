"""Products of arrays whose axes have labels, summed over those that the result lacks.

`contract` does that for two operands; `einsum` for any number, given as text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.contraction import PrecisionLike
from irax.lax.reductions import fold
from irax.numpy.matrices import diagonal
from irax.numpy.tables import no_out
from irax.typing import DTypeLike

Labels = Sequence[Hashable]


def contract(
    x: Array,
    x_labels: Labels,
    y: Array,
    y_labels: Labels,
    out: Labels,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    product: Callable[..., Array] = lax.dot_general,
) -> Array:
    """The product of two arrays, of one dtype and without a label twice, summed over the labels
    that `out` lacks, with the axes in its order. `product` is called as `lax.dot_general` is.
    """
    x, x_labels = _summed(x, x_labels, {*y_labels, *out}, preferred_element_type)
    y, y_labels = _summed(y, y_labels, {*x_labels, *out}, preferred_element_type)
    batch = [name for name in x_labels if name in y_labels and name in out]
    shared = [name for name in x_labels if name in y_labels and name not in out]
    free = [name for name in (*x_labels, *y_labels) if name not in batch and name not in shared]

    def places(labels: Labels, names: Labels) -> tuple[int, ...]:
        return tuple(labels.index(name) for name in names)

    numbers = (
        (places(x_labels, shared), places(y_labels, shared)),
        (places(x_labels, batch), places(y_labels, batch)),
    )
    result = product(
        x, y, numbers, precision=precision, preferred_element_type=preferred_element_type
    )
    return lax.transpose(result, places([*batch, *free], out))


def _summed(
    x: Array, labels: Labels, needed: set[Hashable], preferred: DTypeLike | None
) -> tuple[Array, Labels]:
    """Sum over the labels that are not needed, in the dtype that is preferred if it is wider."""
    axes = tuple(d for d, name in enumerate(labels) if name not in needed)
    kept = [name for name in labels if name in needed]
    if axes and preferred is not None:
        x = convert(x, dtypes.result_type(x, np.dtype(preferred)))
    return fold(x, "or" if x.dtype == np.bool else "add", axes), kept


def stretched(
    name: str, x: Array, x_labels: Labels, y: Array, y_labels: Labels
) -> tuple[Array, Labels, Array, Labels]:
    """The operands without axes of size 1 whose label has another size in the other operand."""
    x_sizes, y_sizes = dict(zip(x_labels, x.shape)), dict(zip(y_labels, y.shape))  # noqa: B905
    gone: list[list[int]] = [[], []]
    for label in set(x_labels) & set(y_labels):
        if x_sizes[label] == y_sizes[label]:
            continue
        if x_sizes[label] == 1:
            gone[0].append(x_labels.index(label))
        elif y_sizes[label] == 1:
            gone[1].append(y_labels.index(label))
        else:
            raise ValueError(
                f"{name}: shapes {x.shape} and {y.shape} do not fit: axes that go together have "
                f"sizes {x_sizes[label]} and {y_sizes[label]}; expected equal sizes, or 1"
            )
    return (
        lax.squeeze(x, gone[0]),
        [label for d, label in enumerate(x_labels) if d not in gone[0]],
        lax.squeeze(y, gone[1]),
        [label for d, label in enumerate(y_labels) if d not in gone[1]],
    )


# ---- einsum --------------------------------------------------------------------------------------


@takes_out_sharding("einsum", sums=True)
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    _dot_general: Callable[..., Array] = lax.dot_general,
    out_sharding: Any = None,
) -> Array:
    """Sum products of arrays over axes, by Einstein's convention.

    Args:
        subscripts: a letter for each axis, operands separated by commas: "ij,jk->ik". Letters that
            the result lacks are summed over; without "->", those that appear more than once. "..."
            stands for any further axes, which are broadcast. Or, in NumPy's other form, an operand
            followed by a list of ints for its axes, and so on.
        operands: arrays.
        out: not supported.
        optimize: the order of products of more than two operands: False for left to right;
            otherwise a method of `opt_einsum.contract_path`, or a path that it returned.
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.
        _dot_general: multiplies two operands in the place of `irax.lax.dot_general`, as a quantized
            product does; it is called with the same arguments.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        ValueError: subscripts that do not fit the operands.
        NotImplementedError: a path that multiplies three operands at once.

    >>> irax.numpy.einsum("ij,j->i", irax.numpy.ones((2, 3)), irax.numpy.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    no_out("einsum", out)
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists(subscripts, *operands)
    arrays = promote_dtypes(*operands, what="einsum")
    if preferred_element_type is not None:
        preferred_element_type = dtypes.requested_dtype(preferred_element_type, "einsum")
    inputs, output = _parse(subscripts, [x.ndim for x in arrays])
    terms = [_prepared(x, labels) for x, labels in zip(arrays, inputs, strict=True)]
    _check_sizes(subscripts, terms)
    for pair in _order(terms, output, optimize):
        chosen = [terms.pop(i) for i in sorted(pair, reverse=True)][::-1]
        if len(chosen) == 1:
            terms.append(chosen[0])
            continue
        (x, x_labels), (y, y_labels) = chosen
        elsewhere = {*output, *(name for _, labels in terms for name in labels)}
        if terms:
            kept = [n for n in dict.fromkeys((*x_labels, *y_labels)) if n in elsewhere]
        else:
            kept = list(output)
        x, x_labels, y, y_labels = stretched("einsum", x, x_labels, y, y_labels)
        result = contract(
            x, x_labels, y, y_labels, kept, precision, preferred_element_type, _dot_general
        )
        terms.append((result, kept))
    ((result, labels),) = terms
    result, labels = _summed(result, labels, set(output), preferred_element_type)
    result = lax.transpose(result, [labels.index(name) for name in output])
    if preferred_element_type is None:
        return result
    return lax.convert_element_type(result, preferred_element_type)


def _from_lists(*arguments: Any) -> tuple[str, tuple[Any, ...]]:
    """The string form of `einsum(x, [0, 1], y, [1, 2], [0, 2])`."""

    def text(labels: Any) -> str:
        return "".join("..." if n is Ellipsis else _LETTERS[operator.index(n)] for n in labels)

    operands, lists = list(arguments[0::2]), list(arguments[1::2])
    output = ""
    if len(operands) > len(lists):
        output = "->" + text(operands.pop())
    return ",".join(map(text, lists)) + output, tuple(operands)


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _parse(subscripts: str, ranks: Sequence[int]) -> tuple[list[list[Hashable]], list[Hashable]]:
    """The labels of each operand and of the result; those of "..." are negative numbers."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise ValueError(f"einsum: {subscripts!r} is for {len(parts)} operands, got {len(ranks)}")
    inputs = [_labels(subscripts, part, rank) for part, rank in zip(parts, ranks, strict=True)]
    dots = max((sum(isinstance(n, int) for n in labels) for labels in inputs), default=0)
    ellipsis: list[Hashable] = list(range(-dots, 0))
    if arrow:
        kept = dots if "..." in right else 0  # without, these axes are summed too
        output = _labels(subscripts, right, len(right.replace("...", "")) + kept)
    else:
        named = [n for labels in inputs for n in labels if isinstance(n, str)]
        output = [*ellipsis, *sorted(n for n in set(named) if named.count(n) == 1)]
    known = {n for labels in inputs for n in labels}
    wrong = [n for n in output if output.count(n) > 1 or (isinstance(n, str) and n not in known)]
    if wrong:
        raise ValueError(
            f"einsum: {subscripts!r}: the result's letters must be among the operands', each once; "
            f"{wrong[0]!r} is {'there twice' if wrong[0] in known else 'not among them'}"
        )
    return inputs, [n for n in output if n in known or isinstance(n, str)]


def _labels(subscripts: str, part: str, rank: int) -> list[Hashable]:
    before, dots, after = part.partition("...")
    letters = before + after
    open_axes = rank - len(letters)
    if not all(c in _LETTERS for c in letters) or open_axes < 0 or (open_axes and not dots):
        raise ValueError(
            f"einsum: {subscripts!r}: {part!r} does not fit an operand of {rank} dimensions; "
            "expected a letter for each, or '...' for the rest"
        )
    return [*before, *range(-open_axes, 0), *after]


def _prepared(x: Array, labels: list[Hashable]) -> tuple[Array, Labels]:
    """The operand without a label twice: the diagonal of those axes."""
    for name in dict.fromkeys(labels):
        while labels.count(name) > 1:
            first = labels.index(name)
            second = labels.index(name, first + 1)
            if x.shape[first] != x.shape[second]:
                raise ValueError(
                    f"einsum: axes {first} and {second} of shape {x.shape} have one letter, "
                    f"{name!r}, but different sizes"
                )
            x = diagonal(x, 0, first, second)
            labels = [n for d, n in enumerate(labels) if d not in (first, second)] + [name]
    return x, labels


def _check_sizes(subscripts: str, terms: Sequence[tuple[Array, Labels]]) -> None:
    sizes: dict[Hashable, int] = {}
    for x, labels in terms:
        for name, n in zip(labels, x.shape, strict=True):
            known = sizes.get(name, 1)
            if 1 not in (known, n) and known != n:
                raise ValueError(
                    f"einsum: {subscripts!r}: {name if isinstance(name, str) else '...'!r} has "
                    f"sizes {known} and {n}; expected one size, or 1"
                )
            sizes[name] = n if known == 1 else known


def _order(
    terms: Sequence[tuple[Array, Labels]], output: Labels, optimize: Any
) -> list[tuple[int, ...]]:
    """The terms to multiply, step by step; the product goes to the end of those left."""
    count = len(terms)
    if count <= 2:
        return [tuple(range(count))]
    if optimize is False:
        return [(0, 1)] + [(0, left - 1) for left in range(count - 1, 1, -1)]
    import opt_einsum

    letters = {n: opt_einsum.get_symbol(i) for i, n in enumerate(_names(terms))}
    inputs = ["".join(letters[n] for n in labels) for _, labels in terms]
    subscripts = ",".join(inputs) + "->" + "".join(letters[n] for n in output)
    if isinstance(optimize, list | tuple) and optimize and optimize[0] == "einsum_path":
        optimize = optimize[1:]  # as NumPy's einsum_path gives it
    if isinstance(optimize, tuple):
        optimize = list(optimize)
    shapes = [x.shape for x, _ in terms]
    path, _ = opt_einsum.contract_path(subscripts, *shapes, shapes=True, optimize=optimize)
    if any(len(group) > 2 for group in path):
        raise NotImplementedError(
            f"einsum: optimize={optimize!r} multiplies more than two operands at once, which is "
            "not supported: give a path of pairs"
        )
    return [tuple(sorted(group)) for group in path]


def _names(terms: Sequence[tuple[Array, Labels]]) -> Sequence[Hashable]:
    return list(dict.fromkeys(name for _, labels in terms for name in labels))


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[Any, Any]:
    """Return the order in which `einsum` multiplies its operands, and its cost.

    Args:
        subscripts: as for `einsum`.
        operands: arrays; only their shapes matter.
        optimize: a method of `opt_einsum.contract_path`.

    Returns:
        For each step the numbers of operands that it takes (its result comes last from then on),
        and a description that prints as a table.

    Raises:
        ValueError: the subscripts do not fit the operands.

    >>> x, y = irax.numpy.ones((2, 3)), irax.numpy.ones((3, 4))
    >>> irax.numpy.einsum_path("ij,jk,kl->il", x, y, irax.numpy.ones((4, 2)))[0]
    [(1, 2), (0, 1)]
    """
    import opt_einsum

    if optimize is True:
        optimize = "auto"
    return opt_einsum.contract_path(subscripts, *operands, optimize=optimize)
