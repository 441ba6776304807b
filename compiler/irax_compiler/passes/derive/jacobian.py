"""Jacobians as functions: the elements of a derivative, by one product for each color.

@f.jacobian takes the arguments of @f. It calls @f.jvp, batched over tangents for the colors of
columns, and @f.vjp, batched over cotangents for the colors of rows, and takes the elements of the
Jacobian from the products: of a sparse one, those in its pattern. Columns that share no row have
one tangent, and rows that share no column have one cotangent (`coloring/choice.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.coloring.choice import (
    choose_colors,
    flat_places,
    num_of_columns,
    places_of_elements,
)
from irax_compiler.coloring.columns import Pattern
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops import comparison, conversion, shape, slicing
from irax_compiler.ops.core import UnsupportedOp, constant, dtype_of_places, full
from irax_compiler.ops.derived import Derived
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.structured import call_function
from irax_compiler.passes.core import Pass, find_function, publish, register_pass
from irax_compiler.passes.derive.batch import derive_batched
from irax_compiler.passes.derive.jvp import active_arguments, derive_jvp
from irax_compiler.passes.derive.sparsity import pattern_of
from irax_compiler.passes.derive.vjp import derive_vjp


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
    active = active_arguments(function, wrt)
    chosen = [x.type for x, a in zip(mlir.arguments(function), active, strict=True) if a]
    types = mlir.result_types(function)
    dtype = _dtype(func, chosen, types)
    width = sum(map(_size, chosen))
    pattern = pattern_of(mlir.clone_module(module), func, wrt)
    mode, colors = "fwd", np.arange(width)
    if not dense:
        mode, colors = _chosen(module, func, wrt, pattern)
    of_columns = num_of_columns(pattern, mode, colors)
    makers: list[Callable[[Sequence[Value]], Value]] = []
    if mode != "rev":
        pushed = derive_jvp(module, func, wrt)
        seeds = _Seeds(of_columns, colors[:width], chosen, [True] * len(chosen), dtype)
        makers.append(_products(module, function, pushed.name, seeds, types, pushed.results))
    if mode != "fwd":
        pulled = derive_vjp(module, func, wrt)
        seeds = _Seeds(
            int(colors.max(initial=-1)) + 1 - of_columns,
            colors[colors.size - pattern.shape[0] :] - of_columns,
            types,
            [mlir.inexact(mlir.dtype_of_type(t)) for t in types],
            dtype,
        )
        every = [True] * len(chosen)
        makers.append(_products(module, function, pulled.name, seeds, chosen, every))
    jacobian = mlir.new_function(
        module,
        mlir.unique_name(module, f"{func}.jacobian"),
        [x.type for x in mlir.arguments(function)],
        function.location,
    )
    with InsertionPoint(mlir.body(jacobian)), mlir.named("jacobian", function.location):
        products = [make(mlir.arguments(jacobian)) for make in makers]
        if dense:
            results = [shape.transpose(products[0], (1, 0))]
        else:
            matrix = pattern.tocoo()
            color, place, _ = places_of_elements(pattern, mode, colors)
            index = flat_places(pattern, mode, colors, (color, place))
            where = (constant(np.asarray(x, np.int64)) for x in (matrix.row, matrix.col))
            results = [_elements(products, index), *where]
    mlir.finish_function(jacobian, results)
    return Derived(mlir.function_name(jacobian))


def _chosen(
    module: Module, func: str, wrt: Sequence[int] | None, pattern: Pattern
) -> tuple[str, np.ndarray]:
    """The colors of a pattern, of a mode that the function has: one with a rule for reverse mode
    has no forward mode, a loop of unknown length has no reverse mode.
    """
    mode, colors = choose_colors(pattern, "auto")
    refused = None
    for other in dict.fromkeys((mode, "fwd", "rev")):
        trial = mlir.clone_module(module)
        try:
            if other != "rev":
                derive_jvp(trial, func, wrt)
            if other != "fwd":
                derive_vjp(trial, func, wrt)
        except UnsupportedOp as error:
            refused = refused or error
            continue
        return (mode, colors) if other == mode else choose_colors(pattern, other)
    assert refused is not None
    raise refused


def _size(type_: Any) -> int:
    return prod(mlir.shape_of_type(type_))


def _dtype(func: str, arguments: Sequence[Any], results: Sequence[Any]) -> np.dtype:
    """The one real dtype of all arguments and results that have a derivative."""
    dtypes = {mlir.dtype_of_type(t) for t in arguments}
    dtypes |= {d for d in map(mlir.dtype_of_type, results) if mlir.inexact(d)}
    if len(dtypes) != 1 or next(iter(dtypes)).kind == "c":
        names = ", ".join(sorted(map(str, dtypes))) or "none"
        raise UnsupportedOp(
            f"jacobian: the arguments and results of @{func} that have derivatives are of dtypes "
            f"{names}; expected one real dtype: choose arguments by wrt, or convert the others"
        )
    return dtypes.pop()


@dataclass(frozen=True)
class _Seeds:
    """The directions of products: for each color, ones at the elements that have it."""

    count: int
    colors: np.ndarray
    """The color of each element of some arrays, one array after the other."""
    types: Sequence[Any]
    """The types of these arrays."""
    are_given: Sequence[bool]
    """For each array, False if a function takes no direction for it."""
    dtype: np.dtype

    def build(self) -> list[Value]:
        """Build the tangents or cotangents of all colors, stacked, for each array that has some."""
        ends = np.cumsum([_size(t) for t in self.types])[:-1]
        found = []
        for part, type_, is_given in zip(
            np.split(self.colors, ends), self.types, self.are_given, strict=True
        ):
            if is_given:
                extents = (self.count, *mlir.shape_of_type(type_))
                one = constant(part.reshape(extents[1:]).astype(np.int32))
                spread = shape.BroadcastInDim(extents, tuple(range(1, len(extents))))(one)
                number = shape.Iota(extents, np.dtype(np.int32), 0)()
                found.append(conversion.convert(comparison.equal(spread, number), self.dtype))
        return found


def _products(
    module: Module,
    function: Operation,
    name: str,
    seeds: _Seeds,
    types: Sequence[Any],
    are_there: Sequence[bool],
) -> Callable[[Sequence[Value]], Value]:
    """Return what builds the products of a derivative and directions, for arguments of the
    function: a row for each direction, with the elements of arrays of some types, one array after
    the other. The derivative returns the function's results, and then the arrays that are there;
    the others are zeros.
    """
    num_arguments, num_results = len(mlir.arguments(function)), len(mlir.result_types(function))
    axes = [None] * num_arguments + [0] * sum(seeds.are_given)
    lanes = derive_batched(module, name, seeds.count, axes)
    functions = mlir.Functions(module)

    def make(arguments: Sequence[Value]) -> Value:
        found = call_function(functions, lanes.name, [*arguments, *seeds.build()])
        there = iter(zip(found[num_results:], lanes.results[num_results:], strict=True))
        parts = []
        for type_, is_there in zip(types, are_there, strict=True):
            extents = (seeds.count, _size(type_))
            if is_there:
                part = shape.batched_at(*next(there), seeds.count, 0)
                parts.append(shape.reshape(part, extents))
            else:
                parts.append(full(extents, 0, seeds.dtype))
        return slicing.Concatenate(1)(*parts) if len(parts) > 1 else parts[0]

    return make


def _elements(products: Sequence[Value], index: np.ndarray) -> Value:
    flat = [shape.reshape(x, (prod(shape_of(x)),)) for x in products]
    every = slicing.Concatenate(0)(*flat) if len(flat) > 1 else flat[0]
    places = constant(index.astype(dtype_of_places(*shape_of(every))))
    dims = WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=1)
    return Gather(dims, (1,), indices_are_sorted=False)(every, places)
