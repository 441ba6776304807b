"""jax.core: traced arrays, their types, and jaxprs."""

from __future__ import annotations

import contextlib
from abc import ABCMeta
from collections.abc import Iterator
from typing import Any

import numpy as np

from irax.compat.jax.api_util import DebugInfo as DebugInfo
from irax.compat.jax.interpreters.tracers import Tracer as Tracer
from irax.core.avals import ShapedArray as ShapedArray
from irax.core.dimensions import max_dim as max_dim
from irax.core.dimensions import min_dim as min_dim
from irax.core.tracing import Trace as Trace
from irax.core.tracing import ensure_compile_time_eval as ensure_compile_time_eval
from irax.core.tracing import outside_traces
from irax.core.tracing import trace_state_clean as trace_state_clean
from irax.extend.core import CallPrimitive as CallPrimitive
from irax.extend.core import ClosedJaxpr as ClosedJaxpr
from irax.extend.core import DropVar as DropVar
from irax.extend.core import Effect as Effect
from irax.extend.core import Jaxpr as Jaxpr
from irax.extend.core import JaxprEqn as JaxprEqn
from irax.extend.core import Literal as Literal
from irax.extend.core import Primitive as Primitive
from irax.extend.core import Token as Token
from irax.extend.core import Var as Var
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

pytype_aval_mappings: dict[type, Any] = {np.ndarray: get_aval}
"""Accepted: irax does not look at it."""

Value = Any
ParamDict = dict[str, Any]
Effects = frozenset[Effect]


class AbstractValue(metaclass=ABCMeta):  # noqa: B024
    """The base of the types of values: of arrays they are `ShapedArray`s."""


AbstractValue.register(ShapedArray)


def is_concrete(x: Any) -> bool:
    """Return True for what has elements that are known."""
    return not isinstance(x, Tracer)


@contextlib.contextmanager
def eval_context() -> Iterator[None]:
    """Run operations at once in a `with` block."""
    with outside_traces():
        yield
