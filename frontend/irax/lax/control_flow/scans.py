"""Loops over the rows of arrays, of a number of steps known beforehand: scan and map."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import tree_util
from irax.core import source
from irax.core.array import Array, as_array
from irax.core.closures import captures_first
from irax.core.dispatch import bind, call, staged
from irax.core.refs import functions as ref_functions
from irax.core.refs import refs
from irax.core.refs.refs import Ref
from irax.core.settings import rule_logs
from irax.core.shardings.explicit_axes import type_of, type_of_slice
from irax.core.tracing import Input, Traced, Tracer, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.errors import ConcretizationTypeError
from irax.execution.diagnostics import loop_progress as telling
from irax.lax import slicing, structure
from irax.lax.control_flow.carries import Carry, leaf_names
from irax.transforms.vmap import vmap
from irax_compiler.ops.control_flow.scan import Scan


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    *,
    progress: str | None = None,
) -> tuple[Any, Any]:
    """Call a function for each row of some arrays, carry values from row to row, and stack the
    results.

    Args:
        f: takes the carried value and a row of `xs`; returns a pair: the next carried value, of the
            structure, shapes and dtypes of `init`, and a pytree of arrays, a row of `ys`.
        init: the initial carried value: a pytree of arrays. Python numbers take the dtype that `f`
            carries on.
        xs: a pytree of arrays of the same leading length, or None. The rows of a Ref are Refs, to
            which `f` may write.
        length: the number of calls; needed only where `xs` has no arrays.
        reverse: go from the last row to the first.
        unroll: the number of calls in each step of the compiled loop; True for all, 0 for one.
        progress: a name for the rows, such as "epochs". A terminal or a notebook then has a line
            that moves while the loop runs; elsewhere it is of no effect.

    Returns:
        `(carry, ys)`: the value that the last call carried on, and the stacked rows.

    Raises:
        TypeError: `f` does not return a pair, or carries on what differs from `init`; `length` or
            `unroll` is no int.
        ConcretizationTypeError: `length` or `unroll` is traced (a TypeError).
        ValueError: lengths that disagree, or none; `unroll` is negative; a Ref is among `xs` twice,
            or in a row of `ys`.

    >>> irax.lax.scan(lambda total, x: (total + x, total * x), 0.0, irax.numpy.arange(4.0))
    (Array(6., dtype=float32), Array([0., 0., 2., 9.], dtype=float32))
    """
    if not callable(f):
        raise TypeError(
            f"lax.scan: f must be a function, got {f!r} of type {type(f).__name__}; the order is "
            "f, init, xs"
        )
    if progress is not None and telling.is_seen():
        return _told(progress, f, init, xs, length, reverse, unroll)
    if rule_logs.calls() is not None:
        f, xs = _numbered(f, xs, length)
    if refs.exist():
        f, xs = _of_rows_of_refs(f, xs)
    held = ref_functions.touched_by(lambda: _scan(f, init, xs, length, reverse, unroll))
    if isinstance(held, ref_functions.Result):
        return held.value
    pure = held.of(f)

    def step(carried: Any, row: Any) -> Any:
        (next_, y), states = pure(carried[1], carried[0], row)
        return (next_, states), y

    (carry, states), ys = _scan(step, (init, held.states), xs, length, reverse, unroll)
    held.write(states)
    return carry, ys


def _told(
    name: str,
    f: Callable[..., Any],
    init: Any,
    xs: Any,
    length: int | None,
    reverse: bool,
    unroll: int | bool,
) -> tuple[Any, Any]:
    """A scan over blocks of rows, each a scan, which tells between them how far it has come."""
    leaves, tree = array_trees.tree_flatten(xs)
    names = leaf_names("xs", xs)
    if any(isinstance(x, Ref) for x in leaves):
        raise ValueError("lax.scan: progress is for arrays: there is a Ref in xs")
    arrays = [as_array(x, f"lax.scan: {n}") for x, n in zip(leaves, names, strict=True)]
    length = _length("lax.scan", arrays, names, length)
    size = max(1, length // telling.TIMES)
    count, rest = divmod(length, size)
    line = telling.Line(name)
    start, end = (rest, 0) if reverse else (0, count * size)  # of the blocks, and of the rest

    def rows(first: int, number: int) -> list[Array]:
        return [slicing.slice_in_dim(x, first, first + number) for x in arrays]

    def block(carry: Any, given: tuple[Array, list[Array]]) -> tuple[Any, Any]:
        number, own = given
        line.tell(number, length)
        whole = array_trees.tree_unflatten(tree, own)
        return scan(f, carry, whole, size, reverse, unroll)

    blocks = [_blocks(x, count * size, size) for x in rows(start, count * size)]
    done = np.arange(count, dtype=np.int32)[:: -1 if reverse else 1] * np.int32(size)
    carry, ys = scan(block, init, (done, blocks), count, reverse)
    ys = array_trees.tree_map(_unblocked, ys)
    if rest:
        own = array_trees.tree_unflatten(tree, rows(end, rest))
        carry, last = scan(f, carry, own, rest, reverse, unroll)
        pairs = (last, ys) if reverse else (ys, last)
        ys = tree_util.tree_map(lambda *y: structure.concatenate(y, 0), *pairs)
    line.end(length)
    return carry, ys


def _numbered(f: Callable[..., Any], xs: Any, length: int | None) -> tuple[Any, Any]:
    """Return a function whose calls of rules with logs know the row that they are in."""
    leaves = array_trees.tree_leaves(xs)
    size = len(leaves[0]) if length is None and leaves and np.ndim(leaves[0]) else length
    if not isinstance(size, int):
        return rule_logs.uncounted(f), xs
    of_row = rule_logs.numbered(f, size, False)

    @functools.wraps(f, updated=())
    def step(carried: Any, row: Any) -> Any:
        number, own = row
        return of_row(number, carried, own)

    return step, (np.arange(size, dtype=np.int32), xs)


def _of_rows_of_refs(f: Callable[..., Any], xs: Any) -> tuple[Callable[..., Any], Any]:
    """Return a function that finds the rows of Refs outside, by the numbers of rows."""

    def numbers(ref: Ref) -> Array:
        if not ref.ndim:
            raise ValueError("lax.scan: a Ref in xs is a scalar; expected an array of rows")
        return as_array(np.arange(len(ref), dtype=np.int32))

    xs, restored = ref_functions.apart("lax.scan", xs, numbers, lambda ref, i: ref.at[i])

    @functools.wraps(f, updated=())
    def of_rows(carried: Any, row: Any) -> Any:
        out = f(carried, restored(row))
        ref_functions.check_no_refs("lax.scan", out)
        return out

    return of_rows, xs


def _scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any,
    length: int | None,
    reverse: bool,
    unroll: int | bool,
) -> tuple[Any, Any]:
    what = "lax.scan"
    carry = Carry(what, "init", init)
    leaves = array_trees.tree_leaves(xs)
    names = leaf_names("xs", xs)
    arrays = [as_array(x, f"{what}: {n}") for x, n in zip(leaves, names, strict=True)]
    length = _length(what, arrays, names, length)
    rows = [
        Input(type_of_slice(x, 0), None, f"a row of {n}")
        for x, n in zip(arrays, names, strict=True)
    ]
    ys_tree: Any = None
    row_tree = array_trees.tree_structure(
        array_trees.reshaped_float0(xs, 0, lambda shape, axis: shape[1:])
    )

    def step(*flat: Array) -> list[Array]:
        nonlocal ys_tree
        count = len(carry.arrays)
        row = array_trees.tree_unflatten(row_tree, flat[count:])
        out = f(carry.unflatten(flat[:count]), row)
        if not (isinstance(out, tuple | list) and len(out) == 2):
            raise TypeError(
                f"{what} at {source.user_line()}: {name_of(f)} must return a pair "
                f"(what is carried on, a row of ys), got "
                + ("one array" if isinstance(out, Array) else f"{out!r} of {type(out).__name__}")
            )
        carried = carry.carried_on(name_of(f), out[0])
        found, ys_tree = array_trees.tree_flatten(out[1])
        named = leaf_names(f"{name_of(f)}: the row of ys", out[1])
        return [*carried, *(as_array(y, n) for y, n in zip(found, named, strict=True))]

    traced = carry.trace(lambda: trace_function(step, [*carry.inputs(), *rows], "scan", name_of(f)))
    calls = check_unroll(what, unroll, length)
    results = repeat(traced, carry.arrays, arrays, length, reverse, calls)
    count = len(carry.arrays)
    returned = traced.returned()
    for number, start in enumerate(carry.arrays):
        if returned[number] == number:  # no step changes it
            results[number] = start
    ys = array_trees.tree_unflatten(ys_tree, results[count:])
    ys = array_trees.stacked_float0(ys, 0, length)
    return carry.unflatten(results[:count]), ys


def map(f: Callable[..., Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Call a function for each row of some arrays, one after the other, and stack the results.

    Where there is the memory for all rows at once, `vmap` is faster.

    Args:
        f: takes a pytree like `xs`, of rows; returns a pytree of arrays.
        xs: a pytree of arrays of the same leading length.
        batch_size: the number of rows to compute at once, as by `vmap`; 0 and None are one by one.

    Returns:
        The stacked results.

    Raises:
        ValueError: lengths that disagree, or no arrays.

    >>> irax.lax.map(lambda x: x * x, irax.numpy.arange(3.0))
    Array([0., 1., 4.], dtype=float32)
    """
    what = "lax.map"
    if not callable(f):
        raise TypeError(f"{what}: expected a function, got {f!r}")

    def one(_: Any, x: Any) -> tuple[None, Any]:
        return None, f(x)

    if not batch_size:
        return scan(one, None, xs)[1]
    if not isinstance(batch_size, int) or batch_size < 0:
        raise ValueError(f"{what}: batch_size must be an int, none below 0, got {batch_size!r}")
    leaves, tree = array_trees.tree_flatten(xs)
    names = leaf_names("xs", xs)
    arrays = [as_array(x, f"{what}: {n}") for x, n in zip(leaves, names, strict=True)]
    length = _length(what, arrays, names, None)
    whole = length - length % batch_size
    parts = []
    if whole or not length:
        blocks = [_blocks(x, whole, batch_size) for x in arrays]
        found = map(vmap(f), array_trees.tree_unflatten(tree, blocks))
        parts.append(array_trees.tree_map(_unblocked, found))
    if whole < length:
        rest = [slicing.slice_in_dim(x, whole, length) for x in arrays]
        parts.append(vmap(f)(array_trees.tree_unflatten(tree, rest)))
    return tree_util.tree_map(lambda *y: structure.concatenate(y, 0), *parts)


def _length(what: str, arrays: Sequence[Array], names: Sequence[str], length: int | None) -> int:
    """Return the number of rows, which all arrays must have in common."""
    for x, name in zip(arrays, names, strict=True):
        if not x.ndim:
            raise ValueError(f"{what}: {name} is a scalar; expected an array of rows")
    if length is not None:
        try:
            length = int(length)
        except TypeError:
            raise _not_an_int(what, "length", length) from None
        if length < 0:
            raise ValueError(f"{what}: length must be at least 0, got {length}")
    if not arrays:
        if length is None:
            raise ValueError(f"{what}: xs has no arrays, so length must say how many steps to take")
        return length
    sizes = {x.shape[0] for x in arrays} | ({length} if length is not None else set())
    if len(sizes) > 1:
        listed = ", ".join(f"{n}: {x.shape[0]}" for x, n in zip(arrays, names, strict=True))
        stated = "" if length is None else f", length: {length}"
        raise ValueError(f"{what}: expected as many rows everywhere, got {listed}{stated}")
    return sizes.pop()


def check_unroll(what: str, unroll: int | bool, length: int) -> int:
    """Return the number of calls in each step of a loop."""
    if unroll is True:
        return max(length, 1)
    if unroll is False:
        return 1
    if not isinstance(unroll, int):
        raise _not_an_int(what, "unroll", unroll)
    if unroll < 0:
        raise ValueError(f"{what}: unroll must be an int from 0 on or a bool, got {unroll!r}")
    return 1 if unroll <= 1 else min(unroll, max(length, 1))


def _not_an_int(what: str, name: str, x: Any) -> TypeError:
    """The error for an argument that is none of Python's ints."""
    if isinstance(x, Tracer):
        return ConcretizationTypeError(
            f"{what}: {name} must be known while tracing, got {x!r}: make it a static argument"
        )
    return TypeError(f"{what}: {name} must be an int, got {x!r}")


# ---- the loop ------------------------------------------------------------------------------------


def repeat(
    step: Traced,
    carry: Sequence[Array],
    xs: Sequence[Array],
    length: int,
    reverse: bool = False,
    unroll: int = 1,
) -> list[Array]:
    """Return the carried values at the end, then the stacked rows. `step` takes the carried values
    and a row of each of `xs`; it returns the next carried values and further rows.
    """

    def repeated() -> list[Array]:
        return _repeated(step, carry, xs, length, reverse)

    if unroll == 1:
        return repeated()
    # Only compiled loops are faster when written out.
    return staged(
        repeated,
        lambda _: _in_blocks(step, carry, xs, length, reverse, unroll),
        [*carry, *xs, *step.captures],
    )


def _in_blocks(
    step: Traced,
    carry: Sequence[Array],
    xs: Sequence[Array],
    length: int,
    reverse: bool,
    unroll: int,
) -> list[Array]:
    """Repeat a step by a loop, each step of which has several calls of it."""
    whole = length - length % unroll
    carry = list(carry)
    num_carry = len(carry)
    tail: list[list[Array]] = []
    if reverse:
        carry, tail = _unrolled(step, carry, xs, range(whole, length), reverse)

    def steps(*flat: Array) -> list[Array]:
        carried, rows = _unrolled(step, flat[:num_carry], flat[num_carry:], range(unroll), reverse)
        return [*carried, *_stacked(rows)]

    blocks = [_blocks(x, whole, unroll) for x in xs]
    inputs = [*(Input(type_of(x)) for x in carry), *(Input(type_of_slice(x, 0)) for x in blocks)]
    traced = trace_function(steps, inputs, "scan", f"{step.name}.unrolled")
    found = _repeated(traced, carry, blocks, whole // unroll, reverse)
    carry, stacks = found[:num_carry], [_unblocked(y) for y in found[num_carry:]]
    if not reverse:
        carry, tail = _unrolled(step, carry, xs, range(whole, length), reverse)
    if tail:
        rest = _stacked(tail)
        stacks = [structure.concatenate(pair, 0) for pair in zip(stacks, rest, strict=True)]
    return [*carry, *stacks]


def _repeated(
    step: Traced, carry: Sequence[Array], xs: Sequence[Array], length: int, reverse: bool
) -> list[Array]:
    (body,), consts = captures_first([step])
    op = Scan(body, length, reverse, len(consts), len(carry))
    found = bind(op, *consts, *carry, *xs, builder=step.builder)
    return [x.with_weak_type(w) for x, w in zip(found, step.weak, strict=True)]


def _unrolled(
    step: Traced, carry: Sequence[Array], xs: Sequence[Array], places: range, reverse: bool
) -> tuple[list[Array], list[list[Array]]]:
    """Call the step for some rows; return the next carried values, and the rows of results."""
    carry = list(carry)
    found: dict[int, list[Array]] = {}
    for place in reversed(places) if reverse else places:
        rows = [slicing.index_in_dim(x, place, keepdims=False) for x in xs]
        out = call(step.builder, step.name, [*carry, *rows, *step.captures], step.weak)
        carry, found[place] = out[: len(carry)], out[len(carry) :]
    return carry, [found[place] for place in places]


def _stacked(rows: Sequence[Sequence[Array]]) -> list[Array]:
    return [
        structure.concatenate([structure.expand_dims(y, (0,)) for y in column], 0)
        for column in zip(*rows, strict=True)
    ]


def _blocks(x: Array, whole: int, size: int) -> Array:
    """The first rows, in blocks of some size."""
    first = slicing.slice_in_dim(x, 0, whole)
    return structure.reshape(first, (whole // size, size, *x.shape[1:]))


def _unblocked(x: Array) -> Array:
    return structure.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))
