"""The precision of functions: how many digits of a result hold, and which lines cost the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from irax.core.tracebacks import api_boundary
from irax.core.tracing import concrete_array
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.core.wrapping import wraps
from irax.execution.jit import jit
from irax.execution.jitted import PjitFunction
from irax_compiler import api

__all__ = ["Precision", "precision"]


class Precision:
    """The digits of results that hold, and the lines that cost the others.

    `irax.precision(f)(*args)` runs a function in two precisions, and returns a report.

    >>> report = irax.precision(lambda x: jnp.log(1 + x))(1e-5)
    >>> report.holds, round(report.digits, 1)
    (False, 2.9)
    >>> irax.precision(jnp.log1p)(1e-5).holds
    True
    """

    @api_boundary
    def __call__(
        self, fun: Callable[..., Any], *, compiled: bool = False
    ) -> Callable[..., api.PrecisionReport]:
        """Return a function that takes the arguments of `fun`, and reports how many digits of its
        results hold.

        It runs `fun` in the evaluator, each operation in its own precision and in a wider one:
        float64, or decimal numbers for functions of float64. The report names the lines that cost
        the result digits.

        Args:
            fun: a function of arrays. It may use `jit`, `grad` and `vmap`, or be what they return.
            compiled: if true, `fun` is compiled and run, too, and the report has the digits of that
                result.

        Raises:
            TypeError: `fun` is not a function.
        """
        jitted: Any = fun if isinstance(fun, PjitFunction) else jit(fun)

        @api_boundary
        @wraps(fun)
        def report(*args: Any, **kwargs: Any) -> api.PrecisionReport:
            program, *_ = jitted.traced_for(args, kwargs)
            given = array_trees.with_words(jitted.dynamic(args, kwargs))
            leaves, _ = array_trees.tree_flatten(given)
            traced = program.traced
            arrays = [concrete_array(x).value for x in (*leaves, *traced.captures)]
            results = None
            if compiled:
                found, _ = array_trees.tree_flatten(jitted(*args, **kwargs))
                results = [np.asarray(x) for x in found]
            found = api.precision_report(traced.builder.module, traced.name, arrays, results)
            found.name = name_of(fun)
            return found

        return report


precision = Precision()
