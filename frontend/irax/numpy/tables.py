"""Makers of elementwise functions of `irax.numpy` from ops, and helpers of the others."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dtypes.operands import Kinds, as_arrays, common_shape, inexact_dtype
from irax.core.dtypes.promotion import apply, broadcast_to, convert
from irax.core.shardings.sharded import sharding_of
from irax.core.shardings.shardings import SingleDeviceSharding
from irax.execution import transfers
from irax.execution.backend import is_device, resolve_device
from irax.execution.shardings.jit_shardings import check_devices, divided_results
from irax.lax.arguments import documented
from irax.numpy.signatures import Unary
from irax.numpy.ufunc_objects import universal
from irax.typing import ArrayLike
from irax_compiler.ops.core import Op

if TYPE_CHECKING:
    from irax.numpy.ufunc_objects import BinaryUfunc

F = TypeVar("F", bound=FunctionType)

NUMBER: Kinds = np.number
ORDERED: Kinds = (np.bool, np.integer, np.floating)
REAL: Kinds = (np.integer, np.floating)
BITS: Kinds = (np.bool, np.integer)


def unary(name: str, op: Op, doc: str, accepts: Kinds | None = None, kind: Any = None) -> Unary:
    """A function of one operand that applies `op`; the rest is as for `promotion.apply`."""

    def function(x: ArrayLike, /) -> Array:
        return apply(op, x, what=name, dtype_kind=kind, accepts=accepts)

    return documented(function, name, doc + OF_ONE.format("x"), "irax.numpy")


def binary(
    name: str,
    op: Op,
    doc: str,
    accepts: Kinds | None = None,
    kind: Any = None,
    identity: Any = None,
    beyond: Callable[[str, Any, Any], Array | None] | None = None,
) -> BinaryUfunc:
    """A `ufunc` of two operands that applies `op`; the rest is as for `promotion.apply`.

    `beyond` returns the result beside a Python integer that the dtype does not hold, else None.
    """

    def function(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        known = beyond(name, x1, x2) if beyond is not None else None
        if known is not None:
            return known
        return apply(op, x1, x2, what=name, dtype_kind=kind, accepts=accepts)

    return universal(2, identity)(
        documented(function, name, doc + OF_TWO.format("x1", "x2"), "irax.numpy")
    )


OF_ONE = """

Args:
    {}: an array, or a number.

Returns:
    An array of the same shape.

Raises:
    TypeError: not an array or a number, or of a dtype that the function does not take."""
OF_TWO = """

Args:
    {}: an array, or a number.
    {}: an array, or a number. The two are promoted to one dtype, and broadcast to one shape.

Returns:
    An array of the broadcast shape.

Raises:
    TypeError: not arrays or numbers, of a dtype that the function does not take, or of shapes of
        one rank that do not broadcast.
    ValueError: shapes of different ranks that do not broadcast."""
"""The arguments, results and errors of elementwise functions, for docstrings."""


def elementwise(function: F) -> F:
    """Add its arguments, results and errors to the docstring of an elementwise function."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    says, _, example = inspect.cleandoc(function.__doc__ or "").partition("\n\n>>>")
    text = (OF_ONE, OF_TWO)[len(names) - 1].format(*names)
    function.__doc__ = f"{says}{text}\n\n>>>{example}" if example else f"{says}{text}"
    return function


def float_unary(name: str, op: Op, doc: str, accepts: Kinds | None = None) -> Unary:
    """A function of floats; integers and booleans become floats first."""
    return unary(name, op, doc, accepts, kind=np.inexact)


# ---- operands ------------------------------------------------------------------------------------


def floats(name: str, *operands: ArrayLike) -> Any:
    """Return the operands promoted and broadcast to floats; one array for one operand."""
    arrays = floats_of_own_shapes(name, *operands)
    target = common_shape(arrays, name)
    arrays = [broadcast_to(x, target) for x in arrays]
    return arrays if len(arrays) > 1 else arrays[0]


def floats_of_own_shapes(name: str, *operands: ArrayLike) -> list[Array]:
    """Return the operands promoted to floats, at once: of uint8 and -1, -1 becomes no uint8."""
    given = as_arrays(operands, name)
    common, weak = dtypes.lattice_result_type(*given)
    return [convert(x, inexact_dtype(common), weak) for x in given]


def real_floats(name: str, *operands: ArrayLike) -> Any:
    """Return `floats(name, *operands)`; raise ValueError for complex numbers."""
    arrays = floats(name, *operands)
    if (arrays[0] if isinstance(arrays, list) else arrays).dtype.kind == "c":
        raise ValueError(f"{name}: expected real numbers, got complex ones")
    return arrays


def integers_of_bools(*operands: Array) -> list[Array]:
    """Return the operands, all of one dtype, as integers if they are booleans."""
    return [convert(x, np.dtype(np.int32)) if x.dtype == np.bool else x for x in operands]


def is_inexact(x: Array) -> bool:
    """Return True if an array has floats or complex numbers."""
    return dtypes.issubdtype(x.dtype, np.inexact)


def is_unsigned(x: Array) -> bool:
    """Return True if an array has unsigned integers or booleans."""
    return x.dtype == np.bool or dtypes.issubdtype(x.dtype, np.unsignedinteger)


def placed(name: str, x: Array, device: Any, out_sharding: Any = None) -> Array:
    """Return an array on the device of a `device` argument; None leaves it where it is.

    Raises:
        RuntimeError: there is no such device.
        ValueError: it cannot be divided as `out_sharding` says, or was put on other devices.
    """
    if out_sharding is not None:
        return divided_results(name, out_sharding, x)
    if device is None:
        return x
    result = transfers.device_put(x, device)
    if (wanted := sharding_of(result)) is not None:
        check_devices(name, x, wanted)
    return result


def put_there(name: str, x: Array, device: Any) -> Array:
    """Return an array on the device of a `device` argument; a program that computes it is for that
    device.

    Raises:
        RuntimeError: there is no such device.
        ValueError: the array was put on other devices, or the program is for others.
    """
    if is_device(device):
        device = SingleDeviceSharding(resolve_device(device))
    return placed(name, x, device)


def no_out(name: str, out: Any) -> None:
    """Raises NotImplementedError for an `out` argument: arrays are immutable."""
    if out is not None:
        raise NotImplementedError(
            f"{name}: the argument 'out' is not supported: arrays are immutable, use the result"
        )
