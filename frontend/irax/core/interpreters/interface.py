"""The interface of interpreters, which run operations at once or write them into a trace.

An interpreter says how it runs an op and calls a function. How operands are promoted and broadcast
first follows from that; NumPy, which does it while it computes, has shorter ways of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from irax import dtypes
from irax.core.array import Array, ConcreteArray
from irax.core.dtypes.operands import (
    Kinds,
    as_arrays,
    broadcast_shapes,
    common_dtype,
    common_shape,
    with_weak_type,
)
from irax.core.dtypes.python_ints import check_ints
from irax.core.key_arrays import KeyArray, bind_keys
from irax.core.module_builder import ModuleBuilder
from irax_compiler.ops import comparison, conversion, shape
from irax_compiler.ops.core import Op, no_calls
from irax_compiler.quiet import quietly

R = TypeVar("R")


class Interpreter(ABC):
    """An interpreter of operations."""

    # -- what each says for itself --

    @abstractmethod
    def run(
        self,
        op: Op,
        operands: Sequence[Array],
        weak_type: bool = False,
        builder: ModuleBuilder | None = None,
    ) -> list[Array]:
        """Return the results of an op, of operands that are numbers. `builder` has the functions
        that the op names, if it does; inside a trace it is the trace's own.
        """

    @abstractmethod
    def call(
        self, builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
    ) -> list[Array]:
        """Return the results of a function of a module. `weak` says which are weakly typed; results
        beyond its end (residuals) are not.
        """

    @abstractmethod
    def staged(self, run: Callable[[], R], write: Callable[[ModuleBuilder], R]) -> R:
        """Return what `run` does where operations run at once; in a trace what `write` does, which
        is given the trace's module.
        """

    def takes(self, op: Op) -> bool:
        """Return True if it can run an op. Ops that are only ever evaluated, most cannot."""
        return not op.evaluated_only

    def elements(self, x: Array) -> np.ndarray[Any, Any] | None:
        """Return an array's elements where NumPy may compute with them at once, None elsewhere."""
        return None

    def beside(self, what: str, x: Array, others: Sequence[Any]) -> Array:
        """Return an array that was put nowhere on the device of the others, where that has one."""
        return x

    # -- what follows from that --

    def bind(
        self,
        op: Op,
        operands: Sequence[Array],
        weak_type: bool = False,
        builder: ModuleBuilder | None = None,
    ) -> Any:
        """Return the result of an op, or a list of them for an op of several results."""
        for x in operands:
            if type(x) is KeyArray:
                return bind_keys(lambda op, *numbers: self.bind(op, numbers), op, operands)
        results = self.run(op, operands, weak_type, builder)
        return results[0] if op.num_results == 1 else results

    def convert(self, x: Array, dtype: np.dtype[Any], weak_type: bool = False) -> Array:
        """Return `x` with another dtype or weak type; `x` itself where it has them already."""
        if x.dtype == dtype:
            return with_weak_type(x, weak_type)
        if isinstance(x, ConcreteArray) and not (x.ndim or x.committed):
            return converted(x, dtype, weak_type)
        check_number(dtype)
        return self.bind(conversion.Convert(dtype), [x], weak_type)

    def broadcast_to(self, x: Array, target: tuple[int, ...]) -> Array:
        """Return `x` stretched to a shape by NumPy's rules.

        Raises:
            ValueError: the shapes do not fit.
        """
        if x.shape == target:
            return x
        offset = len(target) - x.ndim
        if offset < 0 or any(
            n not in (1, m) for n, m in zip(x.shape, target[offset:], strict=True)
        ):
            raise ValueError(
                f"broadcast_to: cannot broadcast an array of shape {x.shape} to shape {target}"
            )
        op = shape.BroadcastInDim(target, tuple(range(offset, len(target))))
        return self.bind(op, [x], x.weak_type)

    def elementwise(
        self,
        op: Op,
        operands: Sequence[Any],
        what: str,
        dtype_kind: type | None = None,
        accepts: Kinds | None = None,
    ) -> Array:
        """Return the result of an elementwise op of operands that are promoted and broadcast."""
        arrays = as_arrays(operands, what)
        dtype, weak = common_dtype(arrays, what, dtype_kind, accepts)
        check_ints(operands, dtype, what)
        target = common_shape(arrays, what)
        arrays = [self.broadcast_to(self.convert(x, dtype, weak), target) for x in arrays]
        result = self.bind(op, arrays, weak)
        return result if not weak or result.dtype == dtype else result.with_weak_type(False)

    def select(self, condition: Array, on_true: Any, on_false: Any, what: str) -> Array:
        """Return `on_true` where a boolean condition holds, else `on_false`."""
        x, y = as_arrays((on_true, on_false), what)
        dtype, weak = dtypes.lattice_result_type(x, y)
        check_ints((on_true, on_false), dtype, what)
        target = broadcast_shapes(condition.shape, x.shape, y.shape, what=what)
        if condition.ndim:
            condition = self.broadcast_to(condition, target)
        x, y = (self.broadcast_to(self.convert(v, dtype, weak), target) for v in (x, y))
        return self.bind(comparison.select, [condition, x, y], x.weak_type)


def converted(x: ConcreteArray, dtype: np.dtype[Any], weak_type: bool) -> ConcreteArray:
    """Return an array that has its elements in another dtype."""
    check_number(dtype)
    value = quietly(conversion.Convert(dtype).evaluate, no_calls, x.value)
    return ConcreteArray(value, weak_type)


def check_number(dtype: np.dtype[Any]) -> None:
    """Raises TypeError for the dtype of keys, which numbers do not become."""
    if isinstance(dtype, dtypes.KeyType):
        raise TypeError("numbers do not become keys: see irax.random.wrap_key_data")
