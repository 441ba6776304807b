"""NumPy: each operation runs at once, by its `evaluate` rule.

Each small operation of a user's pays for what is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors
from irax.config import config
from irax.core import nans, source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dtypes.operands import (
    Kinds,
    as_arrays,
    broadcast_shapes,
    common_dtype,
    common_shape,
    judge_ranks,
    types_text,
)
from irax.core.dtypes.python_ints import fitted
from irax.core.interpreters.interface import Interpreter, R, converted
from irax.core.module_builder import ModuleBuilder
from irax.core.tracing import concrete_array, padded
from irax_compiler.ops import conversion, long_runs
from irax_compiler.ops.core import Op, UnsupportedOp, evaluated, no_calls
from irax_compiler.ops.transformation import Evaluation
from irax_compiler.quiet import quietly


class NumPy(Interpreter):
    """The interpreter that runs operations at once, in NumPy."""

    def run(
        self,
        op: Op,
        operands: Sequence[Array],
        weak_type: bool = False,
        builder: ModuleBuilder | None = None,
    ) -> list[Array]:
        call = no_calls if builder is None else builder.evaluator
        values = [
            x.value if type(x) is ConcreteArray else concrete_array(x).value for x in operands
        ]
        try:
            results = _evaluated(op, call, values)
        except UnsupportedOp:
            raise
        except ValueError as error:
            if builder is not None:  # not of the operation, but of a function that it calls
                raise
            if "too large" in str(error) or "too big" in str(error):  # NumPy counts elements
                raise MemoryError(f"{op.name}: {error}") from None
            raise TypeError(f"{op.name}: {types_text(operands)} do not fit: {error}") from None
        except MemoryError as error:
            raise MemoryError(f"{op.name}: {error}") from None
        if config.debug_nans or config.debug_infs:
            nans.check_operation(op, source.user_line(), values, results)
        return [ConcreteArray(r, weak_type) for r in results]

    def call(
        self, builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
    ) -> list[Array]:
        with nans.watched():
            results = builder.evaluator(name, [concrete_array(x).value for x in operands])
        return [ConcreteArray(r, w) for r, w in zip(results, padded(weak, results), strict=True)]

    def staged(self, run: Callable[[], R], write: Callable[[ModuleBuilder], R]) -> R:
        return run()

    def takes(self, op: Op) -> bool:
        return True

    def elements(self, x: Array) -> np.ndarray[Any, Any] | None:
        return x.value if type(x) is ConcreteArray else None

    def convert(self, x: Array, dtype: np.dtype[Any], weak_type: bool = False) -> Array:
        if type(x) is ConcreteArray and x.dtype != dtype:
            return converted(x, dtype, weak_type)
        return super().convert(x, dtype, weak_type)

    def elementwise(
        self,
        op: Op,
        operands: Sequence[Any],
        what: str,
        dtype_kind: type | None = None,
        accepts: Kinds | None = None,
    ) -> Array:
        operands = _ready(operands, what)
        dtype, weak = common_dtype(operands, what, dtype_kind, accepts)
        if isinstance(dtype, dtypes.KeyType):
            return super().elementwise(op, operands, what, dtype_kind, accepts)
        values, result = quietly(_compute, op, operands, dtype, what)
        if config.debug_nans or config.debug_infs:
            nans.check_operation(op, source.user_line(), values, [result])
        return ConcreteArray(result, weak and result.dtype == dtype)

    def select(self, condition: Array, on_true: Any, on_false: Any, what: str) -> Array:
        operands = _ready((on_true, on_false), what)
        dtype, weak = dtypes.lattice_result_type(*operands)
        if isinstance(dtype, dtypes.KeyType):
            return super().select(condition, on_true, on_false, what)
        chosen = quietly(_values, operands, dtype, what)
        values = [_of_dtype(condition, np.dtype(np.bool), what), *chosen]
        judge_ranks(values, what)
        broadcast_shapes(*(x.shape for x in values), what=what)
        return ConcreteArray(np.where(*values), weak)


def _evaluated(op: Op, call: Evaluation, values: list[np.ndarray[Any, Any]]) -> Sequence[Any]:
    if op.is_pure:
        return quietly(evaluated, op, call, values)
    with np.errstate(all="ignore"), nans.watched():
        return evaluated(op, call, values)


# ---- elementwise ---------------------------------------------------------------------------------

_READY = frozenset({ConcreteArray, float, int, bool})
_DIRECT = frozenset({np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32)})


def _ready(operands: Sequence[Any], what: str) -> Sequence[Any]:
    """The operands, arrays but for Python numbers, which need not become arrays."""
    for x in operands:
        if type(x) not in _READY:
            return as_arrays(operands, what)
    return operands


def _compute(
    op: Op, operands: Sequence[Any], dtype: np.dtype[Any], what: str
) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    values = _values(operands, dtype, what)
    _check_shapes(operands, values, what)
    return values, np.asarray(long_runs.evaluate(op, no_calls, values))


def _values(operands: Sequence[Any], dtype: np.dtype[Any], what: str) -> list[np.ndarray[Any, Any]]:
    return [
        x.value if type(x) is ConcreteArray and x.aval.dtype is dtype else _of_dtype(x, dtype, what)
        for x in operands
    ]


def _of_dtype(x: Any, dtype: np.dtype[Any], what: str) -> np.ndarray[Any, Any]:
    """The elements of an operand, which NumPy is to compute with in a dtype."""
    if type(x) is ConcreteArray:
        value = x.value
    elif dtype in _DIRECT and (type(x) is float or (type(x) is int and abs(x) < 1 << 24)):
        return np.array(x, dtype)
    else:
        why = "an operation outside of its trace"
        value = as_array(fitted(x, dtype, what), toward=dtype).concrete(
            why, errors.ConcretizationTypeError
        )
    return value if value.dtype == dtype else conversion.Convert(dtype).evaluate(no_calls, value)


def _check_shapes(operands: Sequence[Any], values: list[np.ndarray[Any, Any]], what: str) -> None:
    shape = values[0].shape
    for value in values:
        if value.shape != shape:
            common_shape(operands, what)
            return
