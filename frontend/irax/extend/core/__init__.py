"""Primitives of one's own, jaxprs, and the state of tracing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.array import Array as _Array
from irax.core.array import as_array as _as_array
from irax.core.array import aval_of
from irax.core.avals import ShapedArray
from irax.core.tracing import OpaqueTraceState as _OpaqueTraceState
from irax.core.tracing import Tracer as _Tracer
from irax.core.tracing import outside_traces
from irax.errors import ConcretizationTypeError, InconclusiveDimensionOperation
from irax.errors import JaxprTypeError as JaxprTypeError
from irax.extend.core import primitives as primitives
from irax.extend.primitive import Primitive as Primitive
from irax.jaxprs.checking import check_jaxpr as check_jaxpr
from irax.jaxprs.language import ClosedJaxpr as ClosedJaxpr
from irax.jaxprs.language import DropVar as DropVar
from irax.jaxprs.language import Effect as Effect
from irax.jaxprs.language import Jaxpr as Jaxpr
from irax.jaxprs.language import JaxprEqn as JaxprEqn
from irax.jaxprs.language import Literal as Literal
from irax.jaxprs.language import Var as Var
from irax.jaxprs.language import gensym as gensym
from irax.jaxprs.language import jaxprs_in_params as jaxprs_in_params
from irax.jaxprs.language import new_jaxpr_eqn as new_jaxpr_eqn
from irax.jaxprs.language import subjaxprs as subjaxprs
from irax.jaxprs.running import jaxpr_as_fun as jaxpr_as_fun
from irax.jaxprs.user_traces import set_current_trace as set_current_trace
from irax.jaxprs.user_traces import take_current_trace as take_current_trace
from irax.lax.staging import Token as Token

no_effects: frozenset[Any] = frozenset()
"""The effects of a function without side effects."""


class CallPrimitive(Primitive):
    """A primitive that calls a function."""

    multiple_results = True
    call_primitive = True


def get_opaque_trace_state(convention: str | None = None) -> _OpaqueTraceState:
    """Return an object that is equal to another one if both come from one trace.

    Args:
        convention: of no effect.
    """
    return _OpaqueTraceState()


def valid_jaxtype(x: Any) -> bool:
    """Return True for what irax's functions take: arrays and numbers.

    Args:
        x: any object.

    >>> valid_jaxtype(1.0), valid_jaxtype("a")
    (True, False)
    """
    try:
        _as_array(x)
    except (TypeError, ValueError):
        return False
    return True


def concrete_or_error(force: Any, val: Any, context: str = "") -> Any:
    """Return `force(val)` of a value that is known; `force` may be None.

    Args:
        force: a function of one value, such as `int`.
        val: the value.
        context: what the error says beside.

    Raises:
        ConcretizationTypeError: it is a traced array whose value is not known.

    >>> irax.extend.core.concrete_or_error(int, irax.numpy.int32(3))
    3
    """
    if isinstance(val, _Tracer):
        known = val.concrete(context or "a value is needed", ConcretizationTypeError)
        val = np.asarray(known)
    return val if force is None else force(val)


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """Return the type of one lane of an array that has a mapped axis.

    Args:
        size: the size of the mapped axis.
        axis: its position, or None.
        aval: the type of the array of all lanes.

    Raises:
        TypeError: `axis` is not an int.

    >>> irax.extend.core.mapped_aval(8, 0, irax.extend.core.get_aval(irax.numpy.ones((8, 3))))
    float32[3]
    """
    if axis is None:
        return aval
    return aval.update(shape=(*aval.shape[:axis], *aval.shape[axis + 1 :]))


def unmapped_aval(
    size: int, axis: int | None, aval: ShapedArray, explicit_mesh_axis: Any = None
) -> ShapedArray:
    """Return the type of the array of all lanes, with the mapped axis at `axis`. Along which axis
    of a mesh lanes are divided is no part of it.

    Args:
        size: the size of the mapped axis.
        axis: its position, or None.
        aval: the type of one lane.
        explicit_mesh_axis: of no effect.

    Raises:
        TypeError: `axis` is not an int.

    >>> irax.extend.core.unmapped_aval(8, 0, irax.extend.core.get_aval(irax.numpy.ones(3)))
    float32[8,3]
    """
    if axis is None:
        return aval
    return aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def primal_dtype_to_tangent_dtype(primal_dtype: Any) -> np.dtype[Any]:
    """Return the dtype of the tangents of arrays of a dtype.

    Args:
        primal_dtype: a dtype.

    Raises:
        TypeError: `primal_dtype` is not a dtype.

    >>> irax.extend.core.primal_dtype_to_tangent_dtype(irax.numpy.dtype("int32"))
    dtype([('float0', 'V')])
    """
    return ShapedArray((), primal_dtype).to_tangent_aval().dtype


def find_top_trace(xs: Any) -> Any:
    """Return the innermost trace that arrays belong to; None if they are of none.

    Args:
        xs: a sequence of arrays.
    """
    homes = [x.home for x in xs if isinstance(x, _Tracer)]
    depth = {id(home): _depth(home) for home in homes}
    return max(homes, key=lambda home: depth[id(home)], default=None)


def _depth(trace: Any) -> int:
    return 0 if trace is None else 1 + _depth(trace.parent)


def get_aval(x: Any) -> ShapedArray:
    """Return the type of an array or a number.

    Args:
        x: an array, a number or a tracer.

    Raises:
        TypeError: not an array or a number.

    >>> irax.extend.core.get_aval(irax.numpy.ones(3))
    float32[3]
    """
    return aval_of(x, "get_aval")


array_types: set[type] = {_Array, np.ndarray}
"""The types of arrays."""


class TraceTag:
    """A mark of traces: irax's are known by themselves."""


__getattr__: _GetAttr = _refuse_names(__name__)
