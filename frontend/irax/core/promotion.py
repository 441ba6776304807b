"""Promotion and broadcasting: how operands of different dtypes and shapes come together.

Outside of traces NumPy broadcasts while it computes; inside one, conversions and broadcasts are
written down as operations of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors
from irax.config import config
from irax.core import nans, source, strictness
from irax.core.array import Array, ConcreteArray, any_committed, as_array
from irax.core.tracing import REPLAY, bind, current_trace
from irax_compiler.ops import comparison, conversion, numpy_call, shape
from irax_compiler.ops.core import Op
from irax_compiler.quiet import quietly


def convert(x: Array, dtype: np.dtype[Any], weak_type: bool = False) -> Array:
    """`x` with another dtype or weak type; `x` itself where it has them already."""
    if x.dtype == dtype:
        return x if x.weak_type == weak_type else x.with_weak_type(weak_type)
    if isinstance(dtype, dtypes.KeyType):
        raise TypeError("numbers do not become keys: see irax.random.wrap_key_data")
    outside = current_trace() is None and not any_committed((x,))
    if isinstance(x, ConcreteArray) and (outside or not x.ndim):
        return ConcreteArray(quietly(conversion.Convert(dtype).evaluate, x.value), weak_type)
    return bind(conversion.Convert(dtype), x, weak_type=weak_type)


def broadcast_to(x: Array, target: tuple[int, ...]) -> Array:
    """`x` stretched to a shape by NumPy's rules: aligned at the last dimension, 1s repeated.

    Raises:
        ValueError: the shapes do not fit.
    """
    if x.shape == target:
        return x
    if isinstance(x, ConcreteArray) and x.size == 1 and current_trace() is not None:
        return bind(shape.Constant(np.broadcast_to(x.value, target)), weak_type=x.weak_type)
    offset = len(target) - x.ndim
    fits = offset >= 0 and all(n in (1, m) for n, m in zip(x.shape, target[offset:], strict=True))
    if not fits:
        raise ValueError(f"cannot broadcast an array of shape {x.shape} to shape {target}")
    op = shape.BroadcastInDim(target, tuple(range(offset, len(target))))
    return bind(op, x, weak_type=x.weak_type)


def broadcast_shapes(
    *shapes: tuple[int, ...], what: str = "", error: type[Exception] = ValueError
) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to together.

    Raises:
        error: they do not fit. The message begins with `what`, the function's name.
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(map(str, shapes))
        raise error(
            f"{what}{': ' * bool(what)}shapes {listed} do not fit together: aligned at their last "
            "dimensions, sizes must be equal or 1"
        ) from None


def common_shape(operands: Sequence[Any], what: str) -> tuple[int, ...]:
    """The shape that operands broadcast to together, if `numpy_rank_promotion` lets them.

    Raises:
        TypeError: they do not fit; ValueError where they differ in rank, too.
    """
    judge_ranks(operands, what)
    shapes = [np.shape(x) for x in operands]
    same_rank = len({len(shape) for shape in shapes if shape}) == 1
    return broadcast_shapes(*shapes, what=what, error=TypeError if same_rank else ValueError)


def judge_ranks(operands: Sequence[Any], what: str, core: Sequence[int] | None = None) -> None:
    """Raises ValueError, or warns, where operands of the user's differ in rank, scalars aside, and
    the option `numpy_rank_promotion` minds that.

    Of each, the last `core` dimensions are not broadcast, and do not count.
    """
    if config.numpy_rank_promotion == "allow":
        return
    judged = strictness.judged(operands)
    shapes = [np.shape(x) for x in judged]
    sizes = {id(x): n for x, n in zip(operands, core or [0] * len(operands), strict=True)}
    ranks = {len(s) - sizes[id(x)] for x, s in zip(judged, shapes, strict=True) if s}
    if len(ranks) < 2:
        return
    message = (
        f"{what}{': ' * bool(what)}operands of shapes {' and '.join(map(str, shapes))} differ in "
        f"rank, and the option numpy_rank_promotion is {config.numpy_rank_promotion!r}: give "
        "them the same rank with reshape or expand_dims"
    )
    if config.numpy_rank_promotion == "raise":
        raise ValueError(message)
    source.warn(message, UserWarning)


def as_arrays(operands: Sequence[Any], what: str) -> list[Array]:
    """The operands as arrays.

    Raises:
        TypeError: one is a list, a string, ...; the message names it and the function, `what`.
    """
    try:
        return [x if isinstance(x, Array) else as_array(x) for x in operands]
    except TypeError:
        for position, x in enumerate(operands):
            as_array(x, f"{what}: argument {position}")
        raise
    except OverflowError:
        dtype, _ = dtypes.lattice_result_type(*operands)
        return [as_array(_large(x, dtype)) for x in operands]


def _large(x: Any, dtype: np.dtype[Any]) -> Any:
    """An int that is too large for the default dtype, in the dtype that it is used in, if that
    can hold it: one of unsigned integers, or of floats. Anything else as it is.
    """
    if type(x) is not int or abs(x) < 1 << 31:
        return x
    if dtypes.issubdtype(dtype, np.integer):
        limits = dtypes.iinfo(dtype)
        return np.array(x, dtype) if limits.min <= x <= limits.max else x
    return np.array(float(x)).astype(dtype) if dtypes.issubdtype(dtype, np.inexact) else x


def promote_dtypes(*operands: Any, what: str) -> list[Array]:
    """The operands as arrays of their common dtype."""
    arrays = as_arrays(operands, what)
    dtype, weak = dtypes.lattice_result_type(*arrays)
    return [convert(x, dtype, weak) for x in arrays]


def promote(*operands: Any, what: str) -> list[Array]:
    """The operands as arrays of their common dtype and shape."""
    given = as_arrays(operands, what)
    arrays = promote_dtypes(*given, what=what)
    target = common_shape(given, what)
    return [broadcast_to(x, target) for x in arrays]


def is_now(*operands: Array) -> bool:
    """Whether NumPy may compute a function of arrays of its own dtypes by itself, in one step."""
    direct = (x.dtype.kind in "biu" or x.dtype in _DIRECT for x in operands)
    return is_evaluated(*operands) and all(direct)


def is_evaluated(*operands: Array) -> bool:
    """Whether what is done to these arrays is evaluated, now or again and again, and never
    compiled.
    """
    trace = current_trace()
    return not any_committed(operands) if trace is None else trace.kind == REPLAY


def by_numpy(function: str, *operands: Array, what: str) -> Array:
    """An elementwise function of NumPy, of arrays of one dtype, which the result has too; where
    `is_now`.
    """
    shape = common_shape(operands, what)
    op = numpy_call.NumpyCall(function, shape, operands[0].dtype)
    return bind(op, *operands, weak_type=operands[0].weak_type)


Kinds = type | tuple[type, ...]
"""Kinds of dtypes, as abstract NumPy types: `np.integer`, `(np.integer, np.bool)`."""


def check_dtype(what: str, dtype: np.dtype[Any], accepts: Kinds) -> None:
    """Raises TypeError if a function cannot take a dtype: the message names both."""
    if not _accepted(dtype, accepts):
        kinds = accepts if isinstance(accepts, tuple) else (accepts,)
        listed = " or ".join(_KIND_NAMES[kind] for kind in kinds)
        raise TypeError(
            f"{what}: expected arrays of {listed}, got {dtype}; convert with .astype(...)"
        )


@functools.cache
def _accepted(dtype: np.dtype[Any], accepts: Kinds) -> bool:
    kinds = accepts if isinstance(accepts, tuple) else (accepts,)
    return any(dtypes.issubdtype(dtype, kind) for kind in kinds)


@functools.cache
def inexact_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The float that an integer or boolean becomes: as wide, and at least float32."""
    if dtypes.issubdtype(dtype, np.inexact):
        return dtype
    return np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)


_KIND_NAMES = {
    np.bool: "booleans",
    np.integer: "integers",
    np.signedinteger: "signed integers",
    np.floating: "floats",
    np.complexfloating: "complex numbers",
    np.inexact: "floats or complex numbers",
    np.number: "numbers",
}


def apply(
    op: Op,
    *operands: Any,
    what: str,
    dtype_kind: type | None = None,
    accepts: Kinds | None = None,
) -> Array:
    """An elementwise op on operands of any dtypes and shapes that go together.

    With `dtype_kind=np.inexact`, integers and booleans become floats first. What the function is
    called, errors say by `what`; dtypes that are none of `accepts` are a TypeError.
    """
    if current_trace() is None:
        if not any_committed(operands):
            return _apply_now(op, operands, what, dtype_kind, accepts)
        return _on_device(
            lambda *xs: apply(op, *xs, what=what, dtype_kind=dtype_kind, accepts=accepts),
            lambda: _apply_now(op, operands, what, dtype_kind, accepts),
            operands,
            what,
            (op, dtype_kind, accepts),
        )
    arrays = as_arrays(operands, what)
    dtype, weak = _common_dtype(arrays, what, dtype_kind, accepts)
    target = common_shape(arrays, what)
    arrays = [broadcast_to(convert(x, dtype, weak), target) for x in arrays]
    result = bind(op, *arrays, weak_type=weak)
    return result if not weak or result.dtype == dtype else result.with_weak_type(False)


def _common_dtype(
    operands: Sequence[Any], what: str, dtype_kind: type | None, accepts: Kinds | None
) -> tuple[np.dtype[Any], bool]:
    dtype, weak = dtypes.lattice_result_type(*operands)
    if dtype_kind is np.inexact:
        dtype = inexact_dtype(dtype)
    if accepts is not None:
        check_dtype(what, dtype, accepts)
    return dtype, weak


def select(condition: Any, on_true: Any, on_false: Any, what: str) -> Array:
    """`on_true` where a boolean condition holds, else `on_false`: promoted, and all broadcast."""
    if current_trace() is None:
        operands = (condition, on_true, on_false)
        if not any_committed(operands):
            return _select_now(condition, on_true, on_false, what)
        return _on_device(
            lambda *xs: select(*xs, what=what),
            lambda: _select_now(condition, on_true, on_false, what),
            operands,
            what,
            "select",
        )
    x, y = promote_dtypes(on_true, on_false, what=what)
    target = broadcast_shapes(condition.shape, x.shape, y.shape, what=what)
    if condition.ndim:
        condition = broadcast_to(condition, target)
    x, y = broadcast_to(x, target), broadcast_to(y, target)
    return bind(comparison.select, condition, x, y, weak_type=x.weak_type)


# ---- outside of traces: each small operation of a user pays for what is done here ---------------


def _apply_now(
    op: Op,
    operands: Sequence[Any],
    what: str,
    dtype_kind: type | None,
    accepts: Kinds | None,
) -> Array:
    operands = _ready(operands, what)
    dtype, weak = _common_dtype(operands, what, dtype_kind, accepts)
    if isinstance(dtype, dtypes.KeyType):
        return bind(op, *promote(*operands, what=what))
    values, result = quietly(_compute, op, operands, dtype, what)
    if config.debug_nans or config.debug_infs:
        nans.check_operation(op, source.user_line(), values, [result])
    return ConcreteArray(result, weak and result.dtype == dtype)


def _compute(
    op: Op, operands: Sequence[Any], dtype: np.dtype[Any], what: str
) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    values = _values(operands, dtype)
    _check_shapes(operands, values, what)
    return values, np.asarray(op.evaluate(*values))


def _select_now(condition: Any, on_true: Any, on_false: Any, what: str) -> Array:
    operands = _ready((on_true, on_false), what)
    dtype, weak = dtypes.lattice_result_type(*operands)
    if isinstance(dtype, dtypes.KeyType):
        target = broadcast_shapes(*(x.shape for x in (condition, *operands)), what=what)
        return bind(comparison.select, *(broadcast_to(x, target) for x in (condition, *operands)))
    values = [_elements(condition, np.dtype(np.bool)), *quietly(_values, operands, dtype)]
    judge_ranks(values, what)
    broadcast_shapes(*(x.shape for x in values), what=what)
    return ConcreteArray(np.where(*values), weak)


_READY = frozenset({ConcreteArray, float, int, bool})


def _ready(operands: Sequence[Any], what: str) -> Sequence[Any]:
    """The operands, arrays but for Python numbers, which need not become arrays."""
    for x in operands:
        if type(x) not in _READY:
            return as_arrays(operands, what)
    return operands


def _values(operands: Sequence[Any], dtype: np.dtype[Any]) -> list[np.ndarray[Any, Any]]:
    return [
        x.value if type(x) is ConcreteArray and x.aval.dtype is dtype else _elements(x, dtype)
        for x in operands
    ]


_DIRECT = frozenset({np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32)})


def _elements(x: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if type(x) is ConcreteArray:
        value = x.value
    elif dtype in _DIRECT and (type(x) is float or (type(x) is int and abs(x) < 1 << 24)):
        return np.array(x, dtype)
    else:
        why = "an operation outside of its trace"
        value = as_array(_large(x, dtype)).concrete(why, errors.ConcretizationTypeError)
    return value if value.dtype == dtype else conversion.Convert(dtype).evaluate(value)


def _check_shapes(operands: Sequence[Any], values: list[np.ndarray[Any, Any]], what: str) -> None:
    shape = values[0].shape
    for value in values:
        if value.shape != shape:
            common_shape(operands, what)
            return


# ---- outside of traces, on a device -------------------------------------------------------------


def _on_device(
    traced: Callable[..., Array],
    at_once: Callable[[], Array],
    operands: Sequence[Any],
    what: str,
    key: Hashable,
) -> Array:
    """The operation on the device that operands were put on."""
    from irax.execution import eager

    arrays = as_arrays(operands, what)
    (result,) = eager.run(key, lambda *xs: [traced(*xs)], arrays, lambda: [at_once()], what)
    return result
