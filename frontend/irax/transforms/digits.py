"""The precision of functions: how many digits of a result hold, and which lines cost the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import errors
from irax.core.callables import check_callable
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Traced, Tracer, concrete_array
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.core.wrapping import wraps
from irax.execution.jit import jit
from irax.execution.jitted import PjitFunction
from irax.ir import LoadedFunction
from irax.transforms.deferred_rules import with_rules
from irax_compiler import api, mlir

__all__ = ["Precision", "TunedFunction", "precision"]


class Precision:
    """Return a function that takes the arguments of `fun`, and reports how many digits of its
    results hold.

    It runs `fun` in the evaluator, each operation in its own precision and in a wider one: float64,
    or decimal numbers for functions of float64. The report names the lines that cost the result
    digits. `precision.tune` narrows operations within a tolerance.

    Args:
        fun: a function of arrays. It may use `jit`, `grad` and `vmap`, or be what they return.
        compiled: if true, `fun` is compiled and run, too, and the report has the digits of that
            result.

    Raises:
        TypeError: `fun` is not a function.

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
        """Return the function that reports: see `Precision`."""
        jitted = _jitted("precision", fun)

        @api_boundary
        @wraps(fun)
        def report(*args: Any, **kwargs: Any) -> api.PrecisionReport:
            traced, _, arrays = _traced("precision", jitted, args, kwargs)
            results = None
            if compiled:
                found, _ = array_trees.tree_flatten(jitted(*args, **kwargs))
                results = [np.asarray(x) for x in found]
            found = api.precision_report(traced.builder.module, traced.name, arrays, results)
            found.name = name_of(fun)
            return found

        return report

    @api_boundary
    def ranges(
        self, fun: Callable[..., Any], low: Sequence[Any], high: Sequence[Any]
    ) -> api.RangeReport:
        """Return bounds of the results for all arguments in ranges, and what may go wrong there:
        overflow, division by zero, functions of numbers outside of their domain.

        Intervals bound the numbers of each operation. Where they allow a hazard, arguments that
        show it are searched for by the evaluator: `hazards[i].example` has their leaves.

        Args:
            fun: a function of arrays.
            low: its arguments, with the least number that each element may be.
            high: the same with the largest; equal numbers are fixed. Arrays are broadcast.

        Raises:
            TypeError: `fun` is not a function, or `low` or `high` is no tuple.
            ValueError: `low` and `high` are not of one structure, or a number of `low` is above
                that of `high`.

        >>> report = irax.precision.ranges(lambda x: 1 / (x - 0.3), [0.0], [1.0])
        >>> [hazard.what for hazard in report.hazards]
        ['divide by zero']
        >>> report.hazards[0].example[0]
        np.float32(0.3)
        """
        jitted = _jitted("precision.ranges", fun)
        for name, given in (("low", low), ("high", high)):
            if not isinstance(given, tuple | list):
                raise TypeError(
                    f"precision.ranges: {name} is a {type(given).__name__}; expected a tuple of "
                    "all arguments"
                )
        least, tree = array_trees.tree_flatten(tuple(low))
        largest, other = array_trees.tree_flatten(tuple(high))
        if tree != other:
            raise ValueError(
                f"precision.ranges: low and high have different structures, {tree} and {other}; "
                "expected arguments of one structure"
            )
        ends = [_range(i, a, b) for i, (a, b) in enumerate(zip(least, largest, strict=True))]
        args = array_trees.tree_unflatten(tree, [a for a, _ in ends])
        traced, _, arrays = _traced("precision.ranges", jitted, args, {})
        limits: list[Any] = [None if a is b else (np.asarray(a), np.asarray(b)) for a, b in ends]
        limits += [None] * (len(arrays) - len(limits))
        report = api.range_report(traced.builder.module, traced.name, arrays, limits)
        report.name = name_of(fun)
        return report

    @api_boundary
    def tune(
        self,
        fun: Callable[..., Any],
        args: Sequence[Any],
        tolerance: float = 1e-3,
        dtypes: Sequence[str] = ("bfloat16", "float16"),
    ) -> TunedFunction:
        """Return a function with as many operations as possible in narrower types.

        For some arguments its results are within a tolerance, relative to their norms, of those in
        wider arithmetic. The operations are chosen by the sensitivity of the results to each, and
        by trials in the evaluator.

        Args:
            fun: a function of arrays.
            args: its arguments.
            tolerance: the largest relative error.
            dtypes: the types that operations may be done in, by preference: bfloat16, float16,
                float32, float8_e4m3fn, float8_e5m2.

        Raises:
            TypeError: `fun` is not a function, or `args` is no tuple of its arguments.
            ValueError: a dtype is none of these, or the tolerance is negative or not finite.

        >>> f = irax.precision.tune(lambda x: jnp.tanh(x) + 1, [jnp.ones(3)], tolerance=1e-2)
        >>> f.plan.pipeline
        'convert-precision{only=0,1}'
        """
        short = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}
        short |= {"float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}
        names = [np.dtype(d).name for d in dtypes]
        unknown = [n for n in names if n not in short] or ([] if names else ["none"])
        if unknown:
            raise ValueError(f"dtypes: got {unknown[0]}; expected some of {', '.join(short)}")
        if not 0 <= tolerance < np.inf:
            raise ValueError(f"precision.tune: tolerance={tolerance}; expected a number from 0 on")
        if not isinstance(args, tuple | list):
            raise TypeError(
                f"precision.tune: args is a {type(args).__name__}; expected a tuple of all "
                "arguments"
            )
        jitted = _jitted("precision.tune", fun)
        traced, out_tree, arrays = _traced("precision.tune", jitted, tuple(args), {})
        module = mlir.clone_module(with_rules(traced.builder).module)
        mlir.make_public(mlir.functions(module)[traced.name])
        types = [short[n] for n in names]
        plan = api.precision_plan(module, traced.name, arrays, tolerance, types)
        return TunedFunction(plan, name_of(fun), traced.captures, out_tree)


def _jitted(what: str, fun: Callable[..., Any]) -> Any:
    if isinstance(fun, PjitFunction):
        return fun
    check_callable(fun, what)
    return jit(fun)


def _range(number: int, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the ends of the range of a leaf of arguments, of one shape; the same object twice
    where it is fixed.
    """
    if isinstance(low, Tracer) or isinstance(high, Tracer):
        return low, high  # refused with the arguments
    least, largest = np.broadcast_arrays(np.asarray(low), np.asarray(high))
    if not (least <= largest).all():
        raise ValueError(
            f"precision.ranges: leaf {number} of the arguments is in {low}..{high}; expected "
            "numbers of low that are at most those of high"
        )
    start = low if least.shape == np.shape(low) else least.copy()
    return start, start if (least == largest).all() else largest


def _traced(
    what: str, jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Traced, Any, list[np.ndarray[Any, Any]]]:
    """Return a function that is traced for a call, the structure of its results, and the arrays
    that it is called with.
    """
    leaves, _ = array_trees.tree_flatten(array_trees.with_words(jitted.dynamic(args, kwargs)))
    if any(isinstance(x, Tracer) for x in leaves):
        raise errors.ConcretizationTypeError(
            f"{what}: an argument is traced; expected arrays with values: call it outside of jit, "
            "grad and vmap, on functions that use them"
        )
    program, *_ = jitted.traced_for(args, kwargs)
    arrays = [concrete_array(x).value for x in (*leaves, *program.traced.captures)]
    return program.traced, program.out_tree, arrays


class TunedFunction:
    """A function with some operations in narrower types, as `irax.precision.tune` returns it. It
    runs, and `jit`, `grad` and `vmap` take it.
    """

    def __init__(self, plan: api.Plan, name: str, captures: Sequence[Any], out_tree: Any) -> None:
        self.plan = plan
        """The types of operations, and the passes that apply them. Its text is for reading."""
        self.__name__ = name
        self._captures, self._out_tree = list(captures), out_tree
        self._loaded = LoadedFunction(plan.applied(), plan.func, None)

    def __call__(self, *args: Any) -> Any:
        leaves, _ = array_trees.tree_flatten(args)
        results = self._loaded(*leaves, *self._captures)
        one = len(self._loaded.outputs) == 1
        return array_trees.tree_unflatten(self._out_tree, [results] if one else results)


precision = Precision()
