"""JAX's forms of operations: the name, operands and parameters that an equation has, and back.

Interpreters of jaxprs read `eqn.params["dimension_numbers"]` as JAX spells it, and bind primitives
with such parameters. Each form here is a pair: from an op to JAX's parameters, and from these to
the op. Ops without a form have their fields for parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from irax.core.array import Array, as_array
from irax.lax.contraction import Precision
from irax.lax.convolution import ConvDimensionNumbers
from irax.lax.gathering import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers
from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import bitcast, comparison, conversion, convolution, dot, shape, slicing
from irax_compiler.ops.core import Op
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import cumulative, reduce
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.reductions.windows import Window
from irax_compiler.ops.sorting.sort import Order, Sort
from irax_compiler.ops.sorting.top_k import TopK

Params: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Form:
    """JAX's form of the operations of one op."""

    all_names: tuple[str, ...]
    """The names of all primitives that its operations are."""
    name: Callable[[Any, Sequence[Value]], str | None]
    """The primitive's name, for an op and its operands; None where JAX has no such primitive."""
    params: Callable[[Any, Sequence[Value]], Params]
    """JAX's parameters of an op with some operands."""
    op: Callable[[str, Params, Sequence[Array]], Op]
    """The op, for the primitive's name, its parameters and its arguments."""
    operands: Callable[[list[Value]], list[Value]] = list
    """The operands that the primitive has, in its order."""
    arguments: Callable[[str, list[Array]], list[Array]] = lambda name, args: args
    """The op's operands, for the primitive's name and its arguments."""
    extents: Callable[[Any, Sequence[Value]], dict[int, tuple[int, ...]]] = lambda op, operands: {}
    """The shapes that operands, by number, are given by a `reshape` before."""
    has_one_result: bool = False
    """True if the op returns a list and the primitive does not."""


def form_of(op: Any, operands: Sequence[Any]) -> tuple[Form, str] | None:
    """Return the form of an op with some operands and the primitive's name; None if it has none."""
    form = FORMS.get(type(op))
    name = None if form is None else form.name(op, operands)
    return None if form is None or name is None else (form, name)


def _named(name: str) -> Callable[[Any, Sequence[Value]], str]:
    return lambda op, operands: name


def _expect(name: str, params: Params, key: str, *expected: Any) -> None:
    """Raise NotImplementedError for a parameter that the op has not."""
    value = params.get(key, expected[0])
    if value not in expected:
        told = " or ".join(map(str, expected))
        raise NotImplementedError(
            f"{name}: bind takes {key}={told}, got {value}: call the function of irax.lax"
        )


# ---- arrays taken apart and put together ---------------------------------------------------------


def _slice_params(op: slicing.Slice, operands: Sequence[Value]) -> Params:
    steps = None if all(n == 1 for n in op.strides) else op.strides
    return {"start_indices": op.start_indices, "limit_indices": op.limit_indices, "strides": steps}


def _slice(name: str, params: Params, args: Sequence[Array]) -> Op:
    starts, limits = params["start_indices"], params["limit_indices"]
    return slicing.Slice(tuple(starts), tuple(limits), _ones(params.get("strides"), len(starts)))


def _ones(values: Sequence[int] | None, count: int) -> tuple[int, ...]:
    return (1,) * count if values is None else tuple(values)


def _pad_params(op: slicing.Pad, operands: Sequence[Value]) -> Params:
    rows = zip(op.edge_padding_low, op.edge_padding_high, op.interior_padding, strict=True)
    return {"padding_config": tuple(rows)}


def _pad(name: str, params: Params, args: Sequence[Array]) -> Op:
    rows = params["padding_config"]
    low, high, inner = (tuple(row[i] for row in rows) for i in range(3))
    return slicing.Pad(low, high, inner)


def _reshape(name: str, params: Params, args: Sequence[Array]) -> Op:
    _expect(name, params, "dimensions", None)
    return shape.Reshape(tuple(params["new_sizes"]))


def _bitcast(name: str, params: Params, args: Sequence[Array]) -> Op:
    (x,), dtype = args, np.dtype(params["new_dtype"])
    old, new = mlir.width(x.dtype), mlir.width(dtype)
    extents = tuple(x.shape)
    if old > new:
        extents = (*extents, old // new)
    elif old < new:
        extents = extents[:-1]
    return bitcast.BitcastConvert(extents, dtype)


# ---- reductions ----------------------------------------------------------------------------------

_FOLDS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
_COMBINERS = {short: combiner for combiner, short in _FOLDS.items()}


def _reduce_name(op: reduce.Reduce, operands: Sequence[Value]) -> str | None:
    """JAX's reductions have no init value: theirs is the identity."""
    if not reduce.is_identity(op.combiner, operands[1]):
        return None
    return f"reduce_{_FOLDS.get(op.combiner, op.combiner)}"


def _reduce_params(op: reduce.Reduce, operands: Sequence[Value]) -> Params:
    divided = {"out_sharding": None} if op.combiner in ("add", "maximum", "minimum") else {}
    return {"axes": op.dimensions, **divided}


def _combiner(name: str) -> str:
    short = name.rpartition("_")[2]
    return _COMBINERS.get(short, short)


def _reduce(name: str, params: Params, args: Sequence[Array]) -> Op:
    return reduce.Reduce(_combiner(name), tuple(params["axes"]))


def _with_init(combiner: str, args: list[Array]) -> list[Array]:
    (x,) = args
    return [x, as_array(np.asarray(reduce.identity(combiner, x.dtype), x.dtype))]


def _run(op: ReduceWindow, operands: Sequence[Value]) -> cumulative.Run | None:
    """Return the direction of a cumulative reduction. Along one element its windows are like those
    of any other dimension.
    """
    extents = shape_of(operands[0])
    if 1 in extents and op.window == Window((1,) * len(extents)).full():
        return cumulative.Run(extents.index(1))
    return cumulative.run_of(op.window, extents)


def _window_name(op: ReduceWindow, operands: Sequence[Value]) -> str | None:
    combiner = str(op.computation)
    if combiner not in _FOLDS or not reduce.is_identity(combiner, operands[1]):
        return None
    if _run(op, operands) is not None:
        return f"cum{_FOLDS[combiner]}"
    return None if combiner == "multiply" else f"reduce_window_{_FOLDS[combiner]}"


def _window_params(op: ReduceWindow, operands: Sequence[Value]) -> Params:
    run = _run(op, operands)
    if run is not None:
        return {"axis": run.dimension, "reverse": run.backwards}
    window = op.window
    return {
        "window_dimensions": window.sizes,
        "window_strides": window.strides,
        "padding": window.padding,
        "base_dilation": window.base_dilations,
        "window_dilation": window.dilations,
    }


def _window_combiner(name: str) -> str:
    return _COMBINERS[name.removeprefix("cum").removeprefix("reduce_window_")]


def _window(name: str, params: Params, args: Sequence[Array]) -> Op:
    combiner = _window_combiner(name)
    if name.startswith("cum"):
        run = cumulative.Run(params["axis"], params["reverse"])
        return ReduceWindow(combiner, run.window(args[0].shape))
    keys = ("window_dimensions", "window_strides", "base_dilation", "window_dilation")
    sizes, strides, base, dilation = (tuple(params[key] or ()) for key in keys)
    padding = tuple(map(tuple, params["padding"]))
    return ReduceWindow(combiner, Window(sizes, strides, base, dilation, padding).full())


# ---- products ------------------------------------------------------------------------------------


def _precision(names: Sequence[str] | None) -> Any:
    if names is None or set(names) == {"DEFAULT"}:
        return None
    return tuple(Precision[name] for name in names)


def _precision_names(precision: Any) -> tuple[str, str] | None:
    if precision is None:
        return None
    both = precision if isinstance(precision, tuple) else (precision, precision)
    first, second = (getattr(x, "name", x) for x in both)
    return (str(first or "DEFAULT"), str(second or "DEFAULT"))


def _dot_params(op: dot.DotGeneral, operands: Sequence[Value]) -> Params:
    dims = op.dimensions
    contracting = (dims.lhs_contracting, dims.rhs_contracting)
    return {
        "dimension_numbers": (contracting, (dims.lhs_batching, dims.rhs_batching)),
        "precision": _precision(op.precision),
        "preferred_element_type": op.dtype,
        "out_sharding": None,
    }


def _dot(name: str, params: Params, args: Sequence[Array]) -> Op:
    contracting, batching = (tuple(map(tuple, pair)) for pair in params["dimension_numbers"])
    dtype = params.get("preferred_element_type") or args[0].dtype
    precision = _precision_names(params.get("precision"))
    dims = dot.DotDimensions(*batching, *contracting)
    return dot.DotGeneral(dims, np.dtype(dtype), precision, None)


def _conv_name(op: convolution.Convolution, operands: Sequence[Value]) -> str | None:
    return None if any(op.reversal) else "conv_general_dilated"


def _conv_params(op: convolution.Convolution, operands: Sequence[Value]) -> Params:
    dims = op.dimensions
    return {
        "window_strides": op.strides,
        "padding": op.padding,
        "lhs_dilation": op.lhs_dilation,
        "rhs_dilation": op.rhs_dilation,
        "dimension_numbers": ConvDimensionNumbers(dims.lhs, dims.rhs, dims.out),
        "feature_group_count": op.feature_group_count,
        "batch_group_count": op.batch_group_count,
        "precision": _precision(op.precision),
        "preferred_element_type": op.dtype,
        "out_sharding": None,
    }


def _conv(name: str, params: Params, args: Sequence[Array]) -> Op:
    dims = convolution.ConvDimensions(*map(tuple, params["dimension_numbers"]))
    rank = len(dims.lhs) - 2
    return convolution.Convolution(
        dims,
        np.dtype(params.get("preferred_element_type") or args[0].dtype),
        _ones(params["window_strides"], rank),
        tuple(map(tuple, params["padding"])),
        _ones(params["lhs_dilation"], rank),
        _ones(params["rhs_dilation"], rank),
        (False,) * rank,
        params["feature_group_count"],
        params["batch_group_count"],
        _precision_names(params.get("precision")),
    )


# ---- indices -------------------------------------------------------------------------------------


def _has_vectors_last(op: Gather | Scatter, operands: Sequence[Value]) -> bool:
    """True if index vectors lie along the last dimension, or are of one element, without one."""
    return op.dims.index_vector_dim >= len(shape_of(operands[1])) - 1


def _with_vectors(op: Gather | Scatter, operands: Sequence[Value]) -> dict[int, tuple[int, ...]]:
    """Index vectors have a dimension in JAX, also those of one element."""
    indices = shape_of(operands[1])
    return {1: (*indices, 1)} if op.dims.index_vector_dim == len(indices) else {}


def _gather_name(op: Gather, operands: Sequence[Value]) -> str | None:
    return "gather" if _has_vectors_last(op, operands) else None


def _gather_params(op: Gather, operands: Sequence[Value]) -> Params:
    dims = op.dims
    return {
        "dimension_numbers": GatherDimensionNumbers(
            dims.window_dims,
            dims.collapsed_dims,
            dims.index_map,
            dims.operand_batching_dims,
            dims.indices_batching_dims,
        ),
        "slice_sizes": op.slice_sizes,
        "unique_indices": False,
        "indices_are_sorted": op.indices_are_sorted,
        "mode": GatherScatterMode.CLIP,
        "fill_value": None,
    }


def _window_dims(numbers: Sequence[Any], rank: int) -> WindowDims:
    window, collapsed, index_map, operand, indices = map(tuple, numbers)
    return WindowDims(window, collapsed, operand, indices, index_map, rank - 1)


def _gather(name: str, params: Params, args: Sequence[Array]) -> Op:
    _expect(name, params, "mode", GatherScatterMode.CLIP, GatherScatterMode.PROMISE_IN_BOUNDS)
    dims = _window_dims(params["dimension_numbers"], args[1].ndim)
    is_sorted = bool(params.get("indices_are_sorted", False))
    return Gather(dims, tuple(params["slice_sizes"]), is_sorted)


_SCATTERS = {
    "set": "scatter",
    "add": "scatter-add",
    "multiply": "scatter-mul",
    "minimum": "scatter-min",
    "maximum": "scatter-max",
}


def _scatter_name(op: Scatter, operands: Sequence[Value]) -> str | None:
    return _SCATTERS.get(op.combiner) if _has_vectors_last(op, operands) else None


def _scatter_params(op: Scatter, operands: Sequence[Value]) -> Params:
    dims = op.dims
    return {
        "dimension_numbers": ScatterDimensionNumbers(
            dims.window_dims,
            dims.collapsed_dims,
            dims.index_map,
            dims.operand_batching_dims,
            dims.indices_batching_dims,
        ),
        "indices_are_sorted": op.indices_are_sorted,
        "unique_indices": op.unique_indices,
        "mode": GatherScatterMode.FILL_OR_DROP,
        "update_jaxpr": None,  # in place of which the view has the function, if there is one
        "update_consts": (),
    }


def _scatter(name: str, params: Params, args: Sequence[Array]) -> Op:
    modes = GatherScatterMode.FILL_OR_DROP, GatherScatterMode.PROMISE_IN_BOUNDS
    _expect(name, params, "mode", *modes)
    combiner = next(c for c, own in _SCATTERS.items() if own == name.replace("_", "-"))
    dims = _window_dims(params["dimension_numbers"], args[1].ndim)
    is_sorted, unique = (bool(params.get(k)) for k in ("indices_are_sorted", "unique_indices"))
    return Scatter(combiner, dims, is_sorted, unique)


def _swapped(values: list[Any]) -> list[Any]:
    """`select_n` has the case for False first, `stablehlo.select` the one for True."""
    chooser, first, second = values
    return [chooser, second, first]


# ---- sorting -------------------------------------------------------------------------------------


def _sort_name(op: Sort, operands: Sequence[Value]) -> str | None:
    is_ascending = op.order.direction == "LT" and not op.order.total
    return "sort" if is_ascending else None


def _sort_params(op: Sort, operands: Sequence[Value]) -> Params:
    axis = op.dimension % max(len(shape_of(operands[0])), 1)
    return {"dimension": axis, "is_stable": op.is_stable, "num_keys": op.order.num_keys}


def _sort(name: str, params: Params, args: Sequence[Array]) -> Op:
    return Sort(params["dimension"], params["is_stable"], Order(params["num_keys"]))


def _top_k(name: str, params: Params, args: Sequence[Array]) -> Op:
    _expect(name, params, "axis", args[0].ndim - 1)
    return TopK(params["k"])


FORMS: dict[type[Op], Form] = {
    shape.BroadcastInDim: Form(
        ("broadcast_in_dim",),
        _named("broadcast_in_dim"),
        lambda op, _: {
            "shape": op.shape,
            "broadcast_dimensions": op.broadcast_dimensions,
            "sharding": None,
        },
        lambda _, p, args: shape.BroadcastInDim(
            tuple(p["shape"]), tuple(p["broadcast_dimensions"])
        ),
    ),
    shape.Reshape: Form(
        ("reshape",),
        _named("reshape"),
        lambda op, _: {"new_sizes": op.shape, "dimensions": None, "sharding": None},
        _reshape,
    ),
    shape.Iota: Form(
        ("iota",),
        _named("iota"),
        lambda op, _: {
            "dtype": op.dtype,
            "shape": op.shape,
            "dimension": op.iota_dimension,
            "sharding": None,
        },
        lambda _, p, args: shape.Iota(tuple(p["shape"]), np.dtype(p["dtype"]), p["dimension"]),
    ),
    conversion.Convert: Form(
        ("convert_element_type",),
        _named("convert_element_type"),
        lambda op, _: {"new_dtype": op.dtype, "weak_type": False, "sharding": None},
        lambda _, p, args: conversion.Convert(np.dtype(p["new_dtype"])),
    ),
    bitcast.BitcastConvert: Form(
        ("bitcast_convert_type",),
        _named("bitcast_convert_type"),
        lambda op, _: {"new_dtype": op.dtype},
        _bitcast,
    ),
    slicing.Slice: Form(("slice",), _named("slice"), _slice_params, _slice),
    slicing.Pad: Form(("pad",), _named("pad"), _pad_params, _pad),
    comparison.Compare: Form(
        ("eq", "ne", "lt", "le", "gt", "ge"),
        lambda op, _: op.comparison_direction.lower() if op.compare_type is None else None,
        lambda op, _: {},
        lambda name, p, args: comparison.Compare(name.upper(), None),
    ),
    comparison.Select: Form(
        ("select_n",),
        _named("select_n"),
        lambda op, _: {},
        lambda _, p, args: comparison.Select(),
        _swapped,
        lambda name, args: _swapped(args),
    ),
    reduce.Reduce: Form(
        tuple(f"reduce_{_FOLDS.get(c, c)}" for c in reduce.COMBINERS),
        _reduce_name,
        _reduce_params,
        _reduce,
        lambda operands: operands[:1],
        lambda name, args: _with_init(_combiner(name), args),
    ),
    ReduceWindow: Form(
        (
            *(f"cum{short}" for short in _FOLDS.values()),
            *(f"reduce_window_{short}" for short in ("sum", "max", "min")),
        ),
        _window_name,
        _window_params,
        _window,
        lambda operands: operands[:1],
        lambda name, args: _with_init(_window_combiner(name), args),
        has_one_result=True,
    ),
    dot.DotGeneral: Form(("dot_general",), _named("dot_general"), _dot_params, _dot),
    convolution.Convolution: Form(("conv_general_dilated",), _conv_name, _conv_params, _conv),
    Gather: Form(("gather",), _gather_name, _gather_params, _gather, extents=_with_vectors),
    Scatter: Form(
        tuple(_SCATTERS.values()), _scatter_name, _scatter_params, _scatter, extents=_with_vectors
    ),
    Sort: Form(("sort",), _sort_name, _sort_params, _sort),
    TopK: Form(
        ("top_k",),
        _named("top_k"),
        lambda op, operands: {"k": op.k, "axis": len(shape_of(operands[0])) - 1},
        _top_k,
    ),
}
"""The ops that have a form."""
