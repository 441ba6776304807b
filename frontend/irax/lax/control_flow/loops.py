"""Loops: while_loop, for as long as a condition holds, and fori_loop, over a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irax import dtypes
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import bind, call
from irax.core.dtypes.promotion import apply, convert, select
from irax.core.refs import functions as ref_functions
from irax.core.settings import rule_logs
from irax.core.tracing import Input, Traced, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.execution.diagnostics import loop_progress as telling
from irax.lax import control
from irax.lax.arguments import array_of
from irax.lax.control_flow import branches, scans
from irax.lax.control_flow.carries import Carry
from irax.transforms import checkpoint as checkpointing
from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import comparison, elementwise, loop_builders
from irax_compiler.ops.control_flow import long_loops
from irax_compiler.ops.core import Op
from irax_compiler.ops.structured import call_function
from irax_compiler.ops.transformation import Evaluation
from irax_compiler.sizes import Size, is_symbolic, larger, smaller


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_steps: int | None = None,
    checkpoint: bool = True,
) -> Any:
    """Call a function on its own last result for as long as a condition holds.

    A loop has forward mode, and `vmap`: lanes that have ended keep their values. It has reverse
    mode if `max_steps` bounds the number of steps; after so many steps the loop ends even if the
    condition still holds.

    Args:
        cond_fun: takes the carried value, returns a boolean scalar.
        body_fun: takes the carried value, returns that of the next step: of the structure, shapes
            and dtypes of `init_val`.
        init_val: the initial value: a pytree of arrays. Python numbers take the dtype that
            `body_fun` returns.
        max_steps: the most steps that the loop may take.
        checkpoint: with `max_steps`: True if reverse mode keeps the carried values of about
            sqrt(max_steps) steps and computes those between again; False if it keeps all.

    Returns:
        The carried value for which the condition does not hold any more.

    Raises:
        TypeError: `cond_fun` does not return a boolean scalar, or `body_fun` returns what differs
            from `init_val`.
        ValueError: `max_steps` is not positive.

    >>> irax.lax.while_loop(lambda x: x < 100, lambda x: 3 * x, 2)
    Array(162, dtype=int32, weak_type=True)
    >>> cube = lambda x: irax.lax.while_loop(
    ...     lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, 1.0), max_steps=10
    ... )[1]
    >>> irax.grad(cube)(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    what = "lax.while_loop"
    for name, function in (("cond_fun", cond_fun), ("body_fun", body_fun)):
        if not callable(function):
            raise TypeError(
                f"{what}: {name} must be a function, got {function!r} of type "
                f"{type(function).__name__}"
            )
    cond_fun, body_fun = rule_logs.uncounted(cond_fun), rule_logs.uncounted(body_fun)
    held = ref_functions.touched_by(
        lambda: _while_loop(cond_fun, body_fun, init_val, max_steps, checkpoint)
    )
    if isinstance(held, ref_functions.Result):
        return held.value
    condition, body = held.of(cond_fun), held.of(body_fun)

    def goes_on(carried: Any) -> Any:
        holds, states = condition(carried[1], carried[0])
        if any(x[0] is not y[0] for x, y in zip(states, carried[1], strict=True)):
            raise ValueError(f"{what}: {name_of(cond_fun)} writes to a Ref; expected it only reads")
        return holds

    start = (init_val, held.states)
    result, states = _while_loop(
        goes_on, lambda carried: body(carried[1], carried[0]), start, max_steps, checkpoint
    )
    held.write(states)
    return result


def _while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    max_steps: int | None,
    checkpoint: bool,
) -> Any:
    what = "lax.while_loop"
    carry = Carry(what, "init_val", init_val)

    def step(*flat: Array) -> list[Array]:
        return carry.carried_on(name_of(body_fun), body_fun(carry.unflatten(flat)))

    body = carry.trace(
        lambda: trace_function(step, carry.inputs(), "while_loop", name_of(body_fun))
    )

    def go_on(*flat: Array) -> list[Array]:
        out = cond_fun(carry.unflatten(flat))
        leaves, tree = array_trees.tree_flatten(out)
        is_leaf = tree.num_nodes == 1 and leaves
        result = as_array(leaves[0], f"{what}: what cond_fun returns") if is_leaf else None
        if result is None or result.ndim or result.dtype != np.bool:
            got = f"the pytree {out!r}" if result is None else str(result.aval)
            many = result is not None and result.ndim > 0
            cure = ": reduce it, such as by irax.numpy.all or any" if many else ""
            raise TypeError(
                f"{what} at {source.user_line()}: {name_of(cond_fun)} must return a boolean "
                f"scalar, got {got}{cure}"
            )
        return [result]

    condition = trace_function(
        go_on, carry.inputs(), "while_loop", name_of(cond_fun), builder=body.builder
    )
    return carry.unflatten(_repeated(what, condition, body, carry.arrays, max_steps, checkpoint))


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[..., Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
    max_steps: int | None = None,
    checkpoint: bool = True,
    progress: str | None = None,
) -> Any:
    """Call a function for each number of a range: `val = body_fun(i, val)` for i from `lower` to
    `upper - 1`.

    Where the bounds are known while tracing, the loop has reverse mode; otherwise `max_steps` gives
    it one, as to `while_loop`.

    Args:
        lower: an integer scalar, the first number.
        upper: an integer scalar, the end of the range. Both may be floating-point scalars; those
            that are known are truncated to find the number of steps.
        body_fun: takes a number and the carried value, returns that of the next step: of the
            structure, shapes and dtypes of `init_val`.
        init_val: the initial value: a pytree of arrays.
        unroll: the number of calls in each step of the compiled loop; True for all. Only
            for bounds that are known while tracing.
        max_steps: the most steps that a loop with traced bounds may take.
        checkpoint: with `max_steps`: True if reverse mode computes most steps again.
        progress: a name for the steps, of which a line tells as that of `scan` does.

    Returns:
        The carried value at the end; `init_val` for an empty range.

    Raises:
        TypeError: bounds that are not integer scalars of one dtype, or `body_fun` returns what
            differs from `init_val`.
        ValueError: `unroll` with traced bounds, or an `unroll` or `max_steps` that is not positive.

    >>> irax.lax.fori_loop(0, 5, lambda i, total: total + i, 0)
    Array(10, dtype=int32, weak_type=True)
    """
    what = "lax.fori_loop"
    if not callable(body_fun):
        raise TypeError(
            f"{what}: body_fun must be a function, got {body_fun!r} of type "
            f"{type(body_fun).__name__}; the order is lower, upper, body_fun, init_val"
        )
    if progress is not None and telling.is_seen():
        first, end = _bounds(what, lower, upper)
        low, high = branches.known_value(first), branches.known_value(end)
        if low is None or high is None or max_steps is not None:
            bounds = (first, end, max_steps, checkpoint)
            return _told_of_unknown_length(progress, *bounds, body_fun, init_val)
        dtype, weak = first.dtype, first.weak_type

        def step(i: Array, carried: Any) -> Any:
            return body_fun(convert(i, dtype, weak), carried)

        return _told(progress, int(low), int(high), step, init_val, unroll)
    options = {"unroll": unroll, "max_steps": max_steps, "checkpoint": checkpoint}
    if rule_logs.calls() is not None:
        body_fun = _numbered(what, lower, upper, body_fun)
    held = ref_functions.touched_by(lambda: _fori_loop(lower, upper, body_fun, init_val, **options))
    if isinstance(held, ref_functions.Result):
        return held.value
    body = held.of(body_fun)
    result, states = _fori_loop(
        lower,
        upper,
        lambda i, carried: body(carried[1], i, carried[0]),
        (init_val, held.states),
        **options,
    )
    held.write(states)
    return result


def _numbered(what: str, lower: Any, upper: Any, body_fun: Callable[..., Any]) -> Any:
    """Return a body whose calls of rules with logs know the step that they are in."""
    low, high = (branches.known_value(x) for x in _bounds(what, lower, upper))
    if low is None or high is None:
        return rule_logs.uncounted(body_fun)
    of_step = rule_logs.numbered(body_fun, max(int(high) - int(low), 0), False)

    def step(i: Array, carried: Any) -> Any:
        return of_step(convert(i, np.dtype(np.int32)) - int(low), i, carried)

    return step


def _told(
    name: str,
    low: int,
    high: int,
    body_fun: Callable[..., Any],
    init_val: Any,
    unroll: int | bool | None,
) -> Any:
    """Blocks of steps, each a loop, between which a line tells how far they have come."""
    line, length = telling.Line(name), max(high - low, 0)
    size = max(1, length // telling.TIMES)

    def block(carried: Any, start: Array) -> tuple[Any, None]:
        line.tell(start - low, length)
        steps = fori_loop(0, size, lambda i, x: body_fun(start + i, x), carried, unroll=unroll)
        return steps, None

    starts = np.arange(length // size) * size + low
    carried, _ = scans.scan(block, init_val, starts)
    carried = fori_loop(low + len(starts) * size, high, body_fun, carried, unroll=unroll)
    line.end(length)
    return carried


def _told_of_unknown_length(
    name: str,
    first: Array,
    end: Array,
    max_steps: int | None,
    checkpoint: bool,
    body_fun: Callable[..., Any],
    init_val: Any,
) -> Any:
    """`_told` of a loop whose bounds are known when it runs."""
    what = "lax.fori_loop"
    line, length = telling.Line(name), end - first
    size: Any
    if max_steps is None:
        size = control.clamp(1, apply(elementwise.divide, length, telling.TIMES, what=what), length)
        blocks = None
    else:
        size = max(1, max_steps // telling.TIMES)
        blocks = -(-max_steps // size)

    def block(carried: tuple[Array, Any]) -> tuple[Array, Any]:
        start, x = carried
        line.tell(start - first, length)
        stop = convert(control.clamp(start, start + size, end), first.dtype, first.weak_type)
        most = None if max_steps is None else size
        options = {"max_steps": most, "checkpoint": checkpoint}
        return stop, fori_loop(start, stop, body_fun, x, **options)

    options = {"max_steps": blocks, "checkpoint": checkpoint}
    _, result = while_loop(lambda carried: carried[0] < end, block, (first, init_val), **options)
    line.end(length)
    return result


def _fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[..., Any],
    init_val: Any,
    unroll: Any,
    max_steps: Any,
    checkpoint: Any,
) -> Any:
    what = "lax.fori_loop"
    first, end = _bounds(what, lower, upper)
    carry = Carry(what, "init_val", init_val)
    place = Input(first.aval, None, "i")

    def step(i: Array, *flat: Array) -> list[Array]:
        out = carry.carried_on(name_of(body_fun), body_fun(i, carry.unflatten(flat)))
        return [i + 1, *out]

    body = carry.trace(
        lambda: trace_function(step, [place, *carry.inputs()], "fori_loop", name_of(body_fun))
    )
    start = [first, *carry.arrays]
    low, high = branches.known_value(first), branches.known_value(end)
    length: Any = None if low is None or high is None else max(int(high) - int(low), 0)
    if all(isinstance(n, int | Size) for n in (lower, upper)):
        length = larger(upper - lower, 0)
    if is_symbolic(length) or (length is not None and length <= np.iinfo(np.int32).max):
        calls = scans.check_unroll(what, 1 if unroll is None else unroll, length)
        if max_steps is not None:
            length = smaller(length, _positive(what, max_steps))
        results = scans.repeat(body, start, [], length, unroll=calls)
    elif unroll not in (None, 1, False):
        raise ValueError(
            f"{what}: unroll={unroll} wants bounds that are known while tracing; got traced ones"
        )
    else:
        condition = trace_function(
            lambda i, *_: [apply(comparison.less, i, end, what=what)],
            [place, *carry.inputs()],
            "fori_loop",
            f"{name_of(body_fun)}.goes_on",
            builder=body.builder,
        )
        results = _repeated(what, condition, body, start, max_steps, checkpoint)
    return carry.unflatten(results[1:])


def _bounds(what: str, lower: Any, upper: Any) -> tuple[Array, Array]:
    """Return the bounds in one dtype; a Python int takes that of the other bound. Where both are
    known they are as Python ints.
    """
    bounds = [array_of(what, lower), array_of(what, upper)]
    are_real = all(dtypes.issubdtype(x.dtype, np.floating) for x in bounds)
    for name, x in zip(("lower", "upper"), bounds, strict=True):
        if x.ndim or not (are_real or dtypes.issubdtype(x.dtype, np.integer)):
            raise TypeError(f"{what}: {name} must be an integer scalar, got {x.aval}")
    low, high = (x.aval for x in bounds)
    if low.dtype != high.dtype and not (low.weak_type or high.weak_type):
        raise TypeError(f"{what}: lower and upper must be of one dtype, got {low} and {high}")
    dtype, weak = dtypes.lattice_result_type(*bounds)
    if not are_real and all(isinstance(x, ConcreteArray) for x in bounds):
        dtype, weak = dtypes.canonicalize_dtype(int), True
    first, end = (convert(x, dtype, weak) for x in bounds)
    return first, end


def _positive(what: str, max_steps: Any) -> int:
    if not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise ValueError(f"{what}: max_steps must be a positive int, got {max_steps!r}")
    return int(max_steps)


def _repeated(
    what: str,
    condition: Traced,
    body: Traced,
    start: Sequence[Array],
    max_steps: int | None,
    checkpoint: bool,
) -> list[Array]:
    if max_steps is not None:
        return _bounded(condition, body, start, _positive(what, max_steps), checkpoint)
    op = _While(condition.name, body.name, len(start), len(condition.captures))
    operands = [*start, *condition.captures, *body.captures]
    found = bind(op, *operands, builder=body.builder)
    return [x.with_weak_type(w) for x, w in zip(found, body.weak, strict=True)]


@dataclass(frozen=True)
class _While(Op):
    """A `stablehlo.while` whose condition and body are functions of the module: of the loop-carried
    values, then of the values that each has captured.
    """

    name = "stablehlo.while"
    num_results: ClassVar[int] = -1
    is_pure = False
    joins_operands = False
    condition: str
    body: str
    num_carry: int
    num_captured: int
    """The number of values that the condition has captured."""

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        functions = mlir.Functions(mlir.open_module())
        carry, first, second = self._parts(operands)
        return loop_builders.while_loop(
            lambda *state: call_function(functions, self.condition, [*state, *first]),
            lambda *state: call_function(functions, self.body, [*state, *second]),
            carry,
        )

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        carry, first, second = self._parts(operands)
        names = (self.condition, self.body)
        return long_loops.repeat(
            lambda carry: call(self.condition, [*carry, *first])[0],
            lambda carry: call(self.body, [*carry, *second]),
            carry,
            long_loops.Work(sum(long_loops.operations(call, name) for name in names)),
            lambda carry: long_loops.rest(self, call, [*carry, *first, *second]),
        )

    def _parts(self, operands: Sequence[Any]) -> tuple[Any, Any, Any]:
        captured = operands[self.num_carry :]
        return (
            operands[: self.num_carry],
            captured[: self.num_captured],
            captured[self.num_captured :],
        )


def _bounded(
    condition: Traced, body: Traced, start: Sequence[Array], max_steps: int, checkpoint: bool
) -> list[Array]:
    """Run the loop as two nested scans, of about sqrt(max_steps) segments of as many steps. Reverse
    mode keeps the values carried at the start of each segment, and computes the rest again.

    The number of steps that are left is carried too, 0 when the loop has ended; what is left of a
    segment, and of the segments, is then skipped.
    """
    segments = math.isqrt(max_steps - 1) + 1
    steps = -(-max_steps // segments)
    what = "lax.while_loop"
    acts = condition.acts() or body.acts()

    def left_of(left: Array, state: Sequence[Array]) -> Array:
        (goes_on,) = call(condition.builder, condition.name, [*state, *condition.captures], [])
        return select(goes_on, left, 0, what)

    def taken(left: Array, *state: Array) -> list[Array]:
        found = call(body.builder, body.name, [*state, *body.captures], body.weak)
        return [left_of(apply(elementwise.subtract, left, 1, what=what), found), *found]

    def step(carried: list[Array], _: None) -> tuple[list[Array], None]:
        left, *state = carried
        running = apply(comparison.greater, left, 0, what=what)
        if acts:  # not to be used after the end
            return branches.cond(running, taken, lambda *same: list(same), *carried), None
        # After the end the step starts from the initial values: it works for those, and has
        # derivatives that are numbers, which the choice below makes zero.
        after = taken(left, *_choose(running, state, start))
        return _choose(running, after, carried), None

    def segment(*carried: Array) -> list[Array]:
        return scans.scan(step, [*carried], None, steps)[0]

    whole = checkpointing.checkpoint(segment) if checkpoint else segment

    def outer(carried: list[Array], _: None) -> tuple[list[Array], None]:
        running = apply(comparison.greater, carried[0], 0, what=what)
        return branches.cond(running, whole, lambda *same: list(same), *carried), None

    first = [left_of(as_array(np.int32(max_steps)), start), *start]
    return scans.scan(outer, first, None, segments)[0][1:]


def _choose(holds: Array, first: Sequence[Array], second: Sequence[Array]) -> list[Array]:
    return [select(holds, x, y, "lax.while_loop") for x, y in zip(first, second, strict=True)]
