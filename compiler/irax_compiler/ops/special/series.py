"""Elementwise functions computed by iteration: series and continued fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, conversion, elementwise, shape
from irax_compiler.ops.composite import ComposedOp
from irax_compiler.ops.core import Axis, Tangent, full, working_dtype
from irax_compiler.ops.formula import Number, where
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.scipy_modules import scipy_function, scipy_module
from irax_compiler.ops.structured import evaluate_definition
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation

MOST_STEPS = 20000
"""The most steps of a series, whether it has converged or not."""
I32, BOOL = np.dtype(np.int32), np.dtype(np.bool_)
State = tuple[Number, ...]


def repeat(
    state: State, active: Number, step: Callable[[Number, State], tuple[State, Number]]
) -> State:
    """Build a loop. A step takes its number, from 1, and the state of all elements, and returns
    where another step is needed; other elements keep their state.
    """
    extents = shape_of(active.value)

    def goes_on(active: Value, *_: Value) -> Value:
        if not extents:
            return active
        dimensions = tuple(range(len(extents)))
        return reduce.Reduce("or", dimensions)(active, full((), False, BOOL))

    def advance(number: Number, active: Number, *old: Number) -> Sequence[Number]:
        new, needed = step(number + 1, old)
        return [active & needed, *(where(active, a, b) for a, b in zip(new, old, strict=True))]

    _, *found = _loop(MOST_STEPS, state[0].dtype, (active, *state), goes_on, advance)
    return tuple(found)


def steps(count: int, state: State, step: Callable[[Number, State], State]) -> State:
    """Build a loop of a number of steps. A step takes its number, from 0, and the state."""
    return _loop(count, state[0].dtype, state, None, lambda number, *old: step(number, old))


def _loop(
    count: int,
    dtype: np.dtype,
    state: State,
    goes_on: Callable[..., Value] | None,
    step: Callable[..., Sequence[Number]],
) -> State:
    """Build a loop of `count` steps at most. A step takes its number, from 0, in `dtype`."""
    extents = shape_of(state[0].value)

    def condition(n: Value, *values: Value) -> Value:
        more = comparison.less(n, full((), count, I32))
        return more if goes_on is None else bitwise.and_(more, goes_on(*values))

    def body(n: Value, *values: Value) -> Sequence[Value]:
        number = Number(shape.broadcast_scalar(conversion.convert(n, dtype), extents))
        new = step(number, *map(Number, values))
        return [elementwise.add(n, full((), 1, I32)), *(x.value for x in new)]

    start = [full((), 0, I32), *(s.value for s in state)]
    _, *found = while_loop(condition, body, start)
    return tuple(map(Number, found))


@dataclass(frozen=True)
class ByFormula(ComposedOp):
    """An elementwise function of operands of one shape, by a formula of wide enough floats."""

    def formula(self, *operands: Number) -> Number:
        raise NotImplementedError

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        dtype = dtype_of(operands[0])
        wide = (Number(conversion.convert(v, working_dtype(dtype))) for v in operands)
        return [conversion.convert(self.formula(*wide).value, dtype)]

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> np.ndarray:
        return evaluate_definition(self, operands)[0]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = shape.align(transform.size, operands, axes)
        return self.build(operands), [axis]


class Smooth(ByFormula):
    """An elementwise function whose derivatives are formulas as well."""

    def slopes(self, y: Number, *operands: Number) -> Sequence[Number | None]:
        """The derivative in each operand, at the result y; None where there is none: it is nan."""
        raise NotImplementedError

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        dtype = dtype_of(primals[0])
        wide = [conversion.convert(v, working_dtype(dtype)) for v in primals]
        results = transform.results(self, primals)
        (y,) = results if wide == list(primals) else self.build(wide)
        change = None
        for slope, tangent in zip(
            self.slopes(Number(y), *map(Number, wide)), tangents, strict=True
        ):
            if tangent is None:
                continue
            t = Number(conversion.convert(tangent, working_dtype(dtype)))
            part = t * (np.nan if slope is None else slope)
            change = part if change is None else change + part
        assert change is not None
        return results, [conversion.convert(change.value, dtype)]


def is_single(x: Number) -> bool:
    """Return True if a formula needs to be exact to the 24 bits of float32 and no further."""
    return np.finfo(x.dtype).bits <= 32


def in_float64(op: ByFormula, name: str, *operands: np.ndarray, own: np.ndarray) -> np.ndarray:
    """A function of scipy.special, of whose values narrower ones are rounded; the op's formula
    where SciPy is missing, and where `own` is true: there it is better.
    """
    wide = [x.astype(np.float64) for x in operands]
    dtype = operands[0].dtype
    if scipy_module("special") is None:
        return evaluate_definition(op, wide)[0].astype(dtype)
    with np.errstate(all="ignore"):
        found = scipy_function(name)(*wide)
        if own.any():
            # Of the same shape, for which the formula may be known.
            several = evaluate_definition(op, [np.where(own, x, x[own][0]) for x in wide])[0]
            found = np.where(own, several, found)
        return found.astype(dtype)
