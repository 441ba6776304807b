"""JAX's core: traced arrays, their types, and jaxprs."""

from __future__ import annotations

import contextlib
from abc import ABCMeta
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irax.compat.jax._src.util import safe_zip as safe_zip
from irax.compat.jax.api_util import DebugInfo as DebugInfo
from irax.compat.jax.api_util import safe_map as safe_map
from irax.compat.jax.api_util import shaped_abstractify as shaped_abstractify
from irax.compat.jax.interpreters.tracers import Tracer as Tracer
from irax.core.avals import ShapedArray as ShapedArray
from irax.core.dimensions import is_zero
from irax.core.dimensions import max_dim as max_dim
from irax.core.dimensions import min_dim as min_dim
from irax.core.shardings import axis_names
from irax.core.shardings.memory_spaces import Space
from irax.core.tracing import ensure_compile_time_eval as ensure_compile_time_eval
from irax.core.tracing import outside_traces
from irax.core.tracing import trace_ctx as trace_ctx
from irax.core.tracing import trace_state_clean as trace_state_clean
from irax.dtypes import issubdtype, prng_key
from irax.extend.core import CallPrimitive as CallPrimitive
from irax.extend.core import ClosedJaxpr as ClosedJaxpr
from irax.extend.core import DropVar as DropVar
from irax.extend.core import Effect as Effect
from irax.extend.core import Jaxpr as Jaxpr
from irax.extend.core import JaxprEqn as JaxprEqn
from irax.extend.core import JaxprTypeError as JaxprTypeError
from irax.extend.core import Literal as Literal
from irax.extend.core import Primitive as Primitive
from irax.extend.core import Token as Token
from irax.extend.core import Var as Var
from irax.extend.core import check_jaxpr as check_jaxpr
from irax.extend.core import concrete_or_error as concrete_or_error
from irax.extend.core import find_top_trace as find_top_trace
from irax.extend.core import gensym as gensym
from irax.extend.core import get_aval as get_aval
from irax.extend.core import get_opaque_trace_state as get_opaque_trace_state
from irax.extend.core import jaxpr_as_fun as jaxpr_as_fun
from irax.extend.core import jaxprs_in_params as jaxprs_in_params
from irax.extend.core import mapped_aval as mapped_aval
from irax.extend.core import new_jaxpr_eqn as new_jaxpr_eqn
from irax.extend.core import no_effects as no_effects
from irax.extend.core import subjaxprs as subjaxprs
from irax.extend.core import unmapped_aval as unmapped_aval
from irax.extend.core import valid_jaxtype as valid_jaxtype
from irax.jaxprs.language import Atom as Atom
from irax.jaxprs.running import eval_jaxpr as eval_jaxpr
from irax.jaxprs.user_traces import Trace as Trace
from irax.lax.arguments import canonical_shape
from irax_compiler.sizes import InconclusiveDimensionOperation as InconclusiveDimensionOperation
from irax_compiler.sizes import is_symbolic

pytype_aval_mappings: dict[type, Any] = {np.ndarray: get_aval}
"""Accepted: irax does not look at it."""

MemorySpace = Space
InputType = tuple[Any, ...]
OutputType = tuple[Any, ...]
Value = Any
ParamDict = dict[str, Any]
Effects = frozenset[Effect]


def canonicalize_shape(shape: Any, context: str = "") -> tuple[int, ...]:
    """Return a shape as a tuple of ints, or raise TypeError."""
    return canonical_shape(context or "a shape", shape)


class AbstractValue(metaclass=ABCMeta):  # noqa: B024
    """The base of the types of values: of arrays they are `ShapedArray`s."""


AbstractValue.register(ShapedArray)


class AbstractToken(AbstractValue):
    """The type of tokens, which order effects: no equation of irax's has one."""


abstract_token: AbstractToken = AbstractToken()


class JaxprEqnContext:
    """The state of the options in which an equation was made: irax's equations have none."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


def physical_aval(aval: Any) -> Any:
    """Return the type of the words that keys of a type are made of; any other type as it is."""
    if not issubdtype(aval.dtype, prng_key):
        return aval
    return ShapedArray((*aval.shape, aval.dtype.words), np.dtype(np.uint32))


def is_constant_dim(d: Any) -> bool:
    """Return True for a size that is a number, and no expression of names."""
    return not is_symbolic(d)


def is_constant_shape(s: Sequence[Any]) -> bool:
    """Return True for a shape whose sizes are numbers."""
    return all(map(is_constant_dim, s))


def definitely_equal_shape(s1: Sequence[Any], s2: Sequence[Any]) -> bool:
    """Return True for shapes that are known to be equal."""
    return len(s1) == len(s2) and all(is_zero(a - b) for a, b in zip(s1, s2, strict=True))


def unsafe_get_axis_names_DO_NOT_USE() -> list[Any]:
    """Return the names of the axes that the code is mapped over."""
    return [axis[0] for axis in axis_names.bound()]


def full_lower(val: Any) -> Any:
    """Return a value as it is: irax wraps none that needs no trace."""
    return val


def is_concrete(x: Any) -> bool:
    """Return True for what has elements that are known."""
    return not isinstance(x, Tracer) or x.is_known


@contextlib.contextmanager
def eval_context() -> Iterator[None]:
    """Run operations at once in a `with` block."""
    with outside_traces():
        yield
