"""Solutions of equations: custom_root and custom_linear_solve.

The caller gives the solver. Derivatives of the solution follow from the equation, by the implicit
function theorem: no step of the solver is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.config import config
from irax.core import source
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.closures import captures_first, used_by
from irax.core.dispatch import bind, staged
from irax.core.dtypes.promotion import convert
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings.pvary import pvary
from irax.core.tracing import Input, Traced, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import known_inputs, name_of
from irax.lax.control_flow.carries import leaf_names, same_type, side_by_side
from irax.transforms.autodiff import linearize
from irax.transforms.linear_transpose import linear_transpose
from irax_compiler.ops.control_flow.implicit import LinearSolve, Root

Function = Callable[..., Any]


def custom_linear_solve(
    matvec: Function,
    b: Any,
    solve: Function,
    transpose_solve: Function | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return the solution x of `matvec(x) = b` that `solve` finds.

    Derivatives with respect to `b`, and to the values that `matvec` captures, follow from the
    equation; `solve` is never differentiated. Reverse mode solves with the transpose of `matvec`.

    Args:
        matvec: a linear function, from pytrees of arrays like `b` to such.
        b: the right hand side: a pytree of inexact arrays.
        solve: `solve(matvec, b)` returns the solution.
        transpose_solve: `transpose_solve(vecmat, b)` returns the solution of the transposed
            equations. Without it there is no reverse mode, unless they are symmetric.
        symmetric: `matvec` is its own transpose; `solve` solves the transposed equations too,
            where there is no `transpose_solve`.
        has_aux: the solvers return a pair of the solution and a pytree of further values, which
            have no derivatives.

    Returns:
        What `solve` returns.

    Raises:
        TypeError: what a function returns has another structure than `b`, or other dtypes; or
            reverse mode without `transpose_solve`.
        ValueError: what a function returns has other shapes than `b`.

    >>> a = irax.numpy.array([[2.0, 1.0], [1.0, 3.0]])
    >>> solve = lambda matvec, b: irax.numpy.linalg.solve(irax.jacfwd(matvec)(b), b)
    >>> x = irax.lax.custom_linear_solve(lambda x: a @ x, irax.numpy.ones(2), solve, symmetric=True)
    >>> irax.numpy.allclose(a @ x, 1.0)
    Array(True, dtype=bool)
    """
    unknown = _Unknown("lax.custom_linear_solve", "b", b)
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    for function in (matvec, solve, transpose_solve or solve):
        check_callable(function, unknown.what)
    checked = unknown.checked(matvec, "matvec")

    def run() -> Any:
        found = unknown.solution(solve(checked, b), solve, "solve", has_aux)
        unknown.check_others(equations, matvec, transpose_solve)
        return found

    def equations() -> list[Traced]:
        traced = [unknown.trace(unknown.flat(checked), unknown.inputs(), matvec)]
        if transpose_solve is not None:
            vecmat: Any = checked if symmetric else _Transposed(checked, b)
            back = _Solver(unknown, transpose_solve, "transpose_solve", has_aux, vecmat)
            traced.append(unknown.trace(back, unknown.inputs(), transpose_solve))
            traced.append(unknown.trace(unknown.flat(vecmat), unknown.inputs(), matvec))
        return traced

    def write(_: ModuleBuilder) -> Any:
        solver = _Solver(unknown, solve, "solve", has_aux, checked)
        traced = [unknown.trace(solver, unknown.inputs(), solve), *equations()]
        names, consts = captures_first(traced)
        function, product, *others = names
        op = LinearSolve(function, product, len(consts), *(others or (None, None)))
        return solver.results(
            bind(op, *consts, *unknown.arrays, builder=traced[0].builder), traced[0]
        )

    functions = matvec, solve, transpose_solve
    return staged(run, write, used_by(*functions, args=b))


def custom_root(
    f: Function,
    initial_guess: Any,
    solve: Function,
    tangent_solve: Function,
    has_aux: bool = False,
) -> Any:
    """Return the root of `f` that `solve` finds.

    Derivatives with respect to the values that `f` captures follow from the implicit function
    theorem; `solve` is never differentiated.

    Args:
        f: from pytrees of arrays like `initial_guess` to pytrees of the same structure, zero at
            the root; their arrays may have other shapes, as of fewer equations than unknowns.
        initial_guess: a pytree of inexact arrays.
        solve: `solve(f, initial_guess)` returns the root.
        tangent_solve: `tangent_solve(g, y)` returns the x for which `g(x) = y`, where g is linear:
            the derivative of `f` at the root. For scalars, `lambda g, y: y / g(1.0)`; for vectors,
            a solver of linear equations (with `custom_linear_solve` inside, if it iterates).
        has_aux: `solve` returns a pair of the root and a pytree of further values, which have no
            derivatives.

    Returns:
        What `solve` returns.

    Raises:
        TypeError: what a function returns has another structure than `initial_guess`, or other
            dtypes.
        ValueError: what a solver returns has other shapes than `initial_guess`; or, with
            `has_aux`, `solve` returns no pair.

    >>> def newton(f, x):
    ...     step = lambda _, x: x - f(x) / irax.grad(f)(x)
    ...     return irax.lax.fori_loop(0, 8, step, x)
    >>> def square_root(a):
    ...     f = lambda x: x * x - a
    ...     return irax.lax.custom_root(f, a, newton, lambda g, y: y / g(1.0))
    >>> irax.grad(square_root)(4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    unknown = _Unknown("lax.custom_root", "initial_guess", initial_guess)
    unknown.no_pair = ValueError
    for function in (f, solve, tangent_solve):
        check_callable(function, unknown.what)
    checked = unknown.structured(f, "f")

    def run() -> Any:
        found = unknown.solution(solve(checked, initial_guess), solve, "solve", has_aux)
        unknown.check_others(equations, f, tangent_solve)
        return found

    def tangent(*leaves: Array) -> list[Array]:
        x, y = (unknown.unflatten(part) for part in unknown.halves(leaves))
        _, derivative = linearize(checked, x)
        return unknown.leaves(
            unknown.solution(tangent_solve(derivative, y), tangent_solve, "tangent_solve", False)
        )

    def equations() -> list[Traced]:
        equation = unknown.trace(unknown.flat(checked), unknown.inputs(), f)
        residuals = [Input(ShapedArray(x.shape, x.dtype), None, "y") for x in equation.results]
        tangents = unknown.trace(tangent, [*unknown.inputs(), *residuals], tangent_solve)
        return [equation, tangents]

    def write(_: ModuleBuilder) -> Any:
        solver = _Solver(unknown, solve, "solve", has_aux, checked)
        inputs = known_inputs(unknown.arrays, unknown.names)
        traced = [unknown.trace(solver, inputs, solve), *equations()]
        (function, equation, tangents), consts = captures_first(traced)
        op = Root(function, equation, tangents, len(consts))
        return solver.results(
            bind(op, *consts, *unknown.arrays, builder=traced[0].builder), traced[0]
        )

    return staged(run, write, used_by(f, solve, tangent_solve, args=initial_guess))


class _Unknown:
    """The unknown of an equation: a pytree of inexact arrays."""

    no_pair: type[Exception] = TypeError
    """The error for a solver that returns no pair of a solution and further values."""

    def __init__(self, what: str, name: str, like: Any) -> None:
        self.what, self.name = what, name
        self.mismatch: Exception | None = None
        leaves, self.tree = array_trees.tree_flatten(like)
        self.names = leaf_names(name, like)
        self.arrays = [as_array(x, f"{what}: {n}") for x, n in zip(leaves, self.names, strict=True)]
        for x, leaf_name in zip(self.arrays, self.names, strict=True):
            if not dtypes.issubdtype(x.dtype, np.inexact):
                raise TypeError(f"{what}: {leaf_name} has type {x.aval}; expected an inexact array")

    def inputs(self) -> list[Input]:
        """Arguments that stand for any value of the unknown."""
        return [
            Input(ShapedArray(x.shape, x.dtype), None, n)
            for x, n in zip(self.arrays, self.names, strict=True)
        ]

    def trace(self, function: Function, inputs: Sequence[Input], of: Function) -> Traced:
        return trace_function(function, inputs, self.what.partition(".")[2], name_of(of))

    def unflatten(self, leaves: Sequence[Array]) -> Any:
        return array_trees.tree_unflatten(self.tree, leaves)

    def leaves(self, tree: Any) -> list[Array]:
        return [as_array(x, self.what) for x in array_trees.tree_leaves(tree)]

    def halves(self, leaves: Sequence[Array]) -> tuple[Sequence[Array], Sequence[Array]]:
        return leaves[: len(self.arrays)], leaves[len(self.arrays) :]

    def checked(self, function: Function, role: str) -> Function:
        """Return the function with a check of its results; one that is a pytree stays as it is."""
        if _is_pytree(function):
            return function

        def with_check(x: Any) -> Any:
            return self.alike(function(x), function, role)

        with_check.__name__ = name_of(function)
        return with_check

    def structured(self, function: Function, role: str) -> Function:
        """Return the function with a check of the structure of its results; one that is a pytree
        stays as it is, for a solver may carry it through a loop.
        """
        if _is_pytree(function):
            return function

        def with_check(x: Any) -> Any:
            return self.unflatten(self.like(function(x), function, role))

        with_check.__name__ = name_of(function)
        return with_check

    def flat(self, function: Function) -> Function:
        """Return the function as one of flat leaves."""
        return lambda *leaves: self.leaves(function(self.unflatten(leaves)))

    def _is_like(self, x: Any) -> bool:
        return array_trees.tree_structure(x) == self.tree

    def like(self, out: Any, function: Function, role: str) -> list[Array]:
        """Return the leaves of a function's result if it has the structure of the unknown.

        Raises:
            TypeError: it has another structure.
        """
        if not self._is_like(out):
            like = self.unflatten(self.arrays)
            structure = array_trees.tree_structure(like)
            title = _title(function, role)
            error = array_trees.structure_error(structure, out, self.name, title)
            self.mismatch = TypeError(f"{self.what} at {source.user_line()}: {error}")
            raise self.mismatch
        return [
            pvary(x, like.aval.vma) for x, like in zip(self.leaves(out), self.arrays, strict=True)
        ]

    def alike(self, out: Any, function: Function, role: str) -> Any:
        """Return a function's result if it has the structure and types of the unknown.

        Raises:
            TypeError: it has another structure or dtypes.
            ValueError: it has other shapes.
        """
        title = _title(function, role)
        arrays = self.like(out, function, role)
        expected, found = [x.aval for x in self.arrays], [x.aval for x in arrays]
        if not all(
            same_type(a, b) or (a.shape == b.shape and (a.weak_type or b.weak_type))
            for a, b in zip(expected, found, strict=True)
        ):
            table = side_by_side(self.names, (self.name, title), (expected, found))
            same_shapes = [x.shape for x in expected] == [x.shape for x in found]
            self.mismatch = (TypeError if same_shapes else ValueError)(
                f"{self.what} at {source.user_line()}: {title} must have the shapes and dtypes of "
                f"{self.name}:\n{table}"
            )
            raise self.mismatch
        return self.unflatten(
            [
                x if x.dtype == like.dtype else convert(x, like.dtype)
                for x, like in zip(arrays, self.arrays, strict=True)
            ]
        )

    def check_others(self, trace: Function, *functions: Function | None) -> None:
        """Trace functions that only derivatives need, so that their results are checked: once for
        the same code and types. What reads values cannot be traced: it is checked when it is used.
        """
        types = tuple(x.aval for x in self.arrays)
        kind = self.what, self.tree, types, *map(_code, functions)
        if kind in _checked_kinds or config.disable_jit or config.debug_key_reuse:
            return
        try:
            trace()
        except Exception as error:
            if error is self.mismatch:
                raise
        if len(_checked_kinds) >= _MOST_KINDS:
            _checked_kinds.clear()
        _checked_kinds.add(kind)

    def solution(self, out: Any, function: Function, role: str, has_aux: bool) -> Any:
        """Return a solver's result, checked."""
        if not has_aux:
            return self.alike(out, function, role)
        if not (isinstance(out, tuple | list) and len(out) == 2):
            self.mismatch = self.no_pair(
                f"{self.what} at {source.user_line()}: with has_aux=True, {role} "
                f"({name_of(function)}) must return a pair (solution, aux), got {out!r}"
            )
            raise self.mismatch
        aux = array_trees.tree_map(lambda x: as_array(x, f"{self.what}: aux"), out[1])
        return self.alike(out[0], function, role), aux


_checked_kinds: set[Any] = set()
"""The code and types of equations whose functions were checked."""
_MOST_KINDS = 1024


def _code(function: Any) -> Any:
    """Return the code of a function; its class where it has none."""
    function = getattr(function, "func", function)  # of a partial
    return getattr(function, "__code__", type(function))


def _is_pytree(function: Function) -> bool:
    return not any(leaf is function for leaf in array_trees.tree_leaves(function))


def _title(function: Function, role: str) -> str:
    return f"what {role} ({name_of(function)}) returned"


class _Solver:
    """A solver as a function of the leaves of its second argument; it remembers its result's
    structure.
    """

    def __init__(
        self, unknown: _Unknown, solve: Function, role: str, has_aux: bool, equation: Function
    ) -> None:
        self.unknown, self.solve, self.role, self.has_aux = unknown, solve, role, has_aux
        self.equation = equation
        self.tree: Any = None

    def __call__(self, *leaves: Array) -> list[Array]:
        out = self.solve(self.equation, self.unknown.unflatten(leaves))
        out = self.unknown.solution(out, self.solve, self.role, self.has_aux)
        found, self.tree = array_trees.tree_flatten(out)
        return found

    def results(self, found: Sequence[Array], traced: Traced) -> Any:
        """Return the solver's pytree from the results of the operation."""
        leaves = [x.with_weak_type(w) for x, w in zip(found, traced.weak, strict=True)]
        return array_trees.tree_unflatten(self.tree, leaves)


class _Transposed:
    """The transpose of a linear function of one pytree."""

    def __init__(self, function: Function, like: Any) -> None:
        self.function, self.like = function, like
        self.__name__ = f"{name_of(function)}.transpose"

    def __call__(self, x: Any) -> Any:
        return linear_transpose(self.function, self.like)(x)[0]
