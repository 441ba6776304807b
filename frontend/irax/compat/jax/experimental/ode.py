"""jax.experimental.ode: irax.experimental.ode, and its helpers, which solvers of libraries use."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from irax.compat.jax import api_util as api_util
from irax.compat.layers import names_of
from irax.experimental import ode
from irax.flatten_util import ravel_pytree as ravel_pytree

globals().update(names_of(ode))


def ravel_first_arg(
    f: Callable[..., Any], unravel: Callable[..., Any], debug_info: Any = None
) -> Callable[..., Any]:
    """Return a function of a vector in place of its first argument, which returns a vector."""

    @functools.wraps(f)
    def of_vector(y: Any, *args: Any) -> Any:
        return ravel_pytree(f(unravel(y), *args))[0]

    return of_vector
