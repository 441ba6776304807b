"""Jacobians as functions: the elements of a derivative, by one tangent for each color.

@f.jacobian takes the arguments of @f. It calls @f.jvp, batched over directions, and takes the
elements of the Jacobian from the tangents of the results: of a sparse one, those in its pattern.
Columns that share no row have one direction (`coloring.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import coloring, mlir
from irax_compiler.mlir import InsertionPoint, Module, Value, dtype_of, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import UnsupportedOp, constant
from irax_compiler.ops.derived import Derived
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.structured import call_function
from irax_compiler.passes.core import Pass, find_function, publish, register_pass
from irax_compiler.passes.derive.batch import derive_batched
from irax_compiler.passes.derive.jvp import active_arguments, derive_jvp
from irax_compiler.passes.derive.sparsity import pattern_of


@register_pass
@dataclass
class Jacobian(Pass):
    """Adds @f.jacobian, which returns the elements of @f's Jacobian that can be other than zero,
    their rows, and their columns, for the arguments in `wrt`. Rows are the elements of all results,
    one result after the other; columns are those of the arguments. With `dense`, it returns the
    matrix.
    """

    name: ClassVar[str] = "jacobian"
    func: str = "main"
    wrt: tuple[int, ...] | None = None
    dense: bool = False

    def run(self, module: Module) -> None:
        publish(module, derive_jacobian(module, self.func, self.wrt, self.dense).name)


def derive_jacobian(
    module: Module, func: str = "main", wrt: Sequence[int] | None = None, dense: bool = False
) -> Derived:
    """Add @f.jacobian to a module, as a private function; see `Jacobian`.

    Raises:
        UnsupportedOp: the arguments and results that have derivatives are not of one real type.
    """
    function = find_function(module, func)
    arguments = mlir.arguments(function)
    active = active_arguments(function, wrt)
    chosen = [x for x, flag in zip(arguments, active, strict=True) if flag]
    dtype = _dtype(func, chosen, mlir.result_types(function))
    width = sum(prod(shape_of(x)) for x in chosen)
    pattern = pattern_of(mlir.clone_module(module), func, wrt)
    colors = np.arange(width)
    if not dense:
        colors = coloring.color_columns(pattern, coloring.largest_first(pattern))
    count = int(colors.max(initial=0)) + 1
    tangents = derive_jvp(module, func, wrt)
    axes = [None] * len(arguments) + [0] * len(chosen)
    num_results = len(tangents.results)
    lanes = derive_batched(module, tangents.name, count, axes)
    functions = mlir.Functions(module)
    jacobian = mlir.new_function(
        module,
        mlir.unique_name(module, f"{func}.jacobian"),
        [x.type for x in arguments],
        function.location,
    )
    with InsertionPoint(mlir.body(jacobian)), mlir.named("jacobian", function.location):
        seeds = _seeds(colors, count, [shape_of(x) for x in chosen], dtype)
        operands = [*mlir.arguments(jacobian), *map(constant, seeds)]
        found = call_function(functions, lanes.name, operands)[num_results:]
        of_lanes = lanes.results[num_results:]
        rows = [
            shape.reshape(y, (count, prod(shape_of(y)) // count))
            for y in map(shape.batched_at, found, of_lanes, [count] * len(found), [0] * len(found))
        ]
        products = _all_rows(rows, tangents.results, mlir.result_types(function), count, dtype)
        if dense:
            results = [shape.transpose(products, (1, 0))]
        else:
            places = pattern.tocoo()
            index = np.stack([colors[places.col], places.row], 1).astype(np.int64)
            where = (constant(np.asarray(x, np.int64)) for x in (places.row, places.col))
            results = [_elements(products, constant(index)), *where]
    mlir.finish_function(jacobian, results)
    return Derived(mlir.function_name(jacobian))


def _dtype(func: str, chosen: Sequence[Value], results: Sequence[Any]) -> np.dtype:
    """The one real dtype of all arguments and results that have a derivative."""
    of_results = [mlir.dtype_of_type(t) for t in results]
    dtypes = {dtype_of(x) for x in chosen} | {d for d in of_results if mlir.inexact(d)}
    if len(dtypes) != 1 or next(iter(dtypes)).kind == "c":
        names = ", ".join(sorted(map(str, dtypes))) or "none"
        raise UnsupportedOp(
            f"jacobian: the arguments and results of @{func} that have derivatives are of dtypes "
            f"{names}; expected one real dtype: choose arguments by wrt, or convert the others"
        )
    return dtypes.pop()


def _seeds(
    colors: np.ndarray, count: int, shapes: Sequence[Sequence[int]], dtype: np.dtype
) -> list[np.ndarray]:
    """The directions: for each argument, one for each color, with ones at its elements."""
    seeds = np.zeros((count, colors.size), dtype)
    seeds[colors, np.arange(colors.size)] = 1
    ends = np.cumsum([prod(s) for s in shapes])[:-1]
    parts = np.split(seeds, ends, axis=1)
    return [part.reshape(count, *s) for part, s in zip(parts, shapes, strict=True)]


def _all_rows(
    rows: Sequence[Value],
    flags: Sequence[bool],
    types: Sequence[Any],
    count: int,
    dtype: np.dtype,
) -> Value:
    """The tangents of all results, with zeros for those that have none: [color, row]."""
    there = iter(rows)
    parts = [
        next(there) if flag else constant(np.zeros((count, prod(mlir.shape_of_type(t))), dtype))
        for t, flag in zip(types, flags, strict=True)
    ]
    return slicing.Concatenate(1)(*parts) if len(parts) > 1 else parts[0]


def _elements(products: Value, index: Value) -> Value:
    dims = WindowDims(collapsed_dims=(0, 1), index_map=(0, 1), index_vector_dim=1)
    return Gather(dims, (1, 1), indices_are_sorted=False)(products, index)
