"""`x.at[index]`: changed copies of arrays, and reads that say what to do out of range.

A part of known extent is written with dynamic_update_slice (or a select, if it has gaps), after
computing what it becomes; only index arrays need a scatter.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

import irax.numpy as jnp
from irax import dtypes
from irax.config import config
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import beside, bind, elements
from irax.core.dtypes.operands import broadcast_shapes
from irax.core.dtypes.promotion import apply, broadcast_to, convert
from irax.core.dtypes.python_ints import fitted
from irax.core.places import with_number
from irax.core.shardings.explicit_axes import check_region, check_update
from irax.core.tracebacks import api_boundary
from irax.execution.shardings.jit_shardings import divided_like, takes_out_sharding
from irax.lax.control_flow.loops import fori_loop
from irax.numpy.indexing import reads as indexing
from irax.numpy.indexing.parts import Dim, Parts, arrays_of, parse
from irax.numpy.indexing.strategies import check_strategy
from irax_compiler.ops import comparison, slicing
from irax_compiler.ops import elementwise as ops
from irax_compiler.ops.core import Op, dtype_of_places, working_dtype
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter

_COMBINERS: dict[str, tuple[Op, Any]] = {
    "add": (ops.add, np.add),
    "multiply": (ops.multiply, np.multiply),
    "minimum": (ops.minimum, np.minimum),
    "maximum": (ops.maximum, np.maximum),
}


class At:
    """`x.at`, which `[index]` follows."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array: Array = array

    def __getitem__(self, index: Any) -> AtIndex:
        return AtIndex(self.array, index)

    def __setitem__(self, index: Any, values: Any) -> None:
        raise TypeError("x.at[i] = values: arrays cannot be changed; y = x.at[i].set(values)")

    def __repr__(self) -> str:
        return f"<.at of {self.array.aval}, which [index] follows>"


class AtIndex:
    """`x.at[index]`: its methods return an updated copy of x, or the elements at the index.

    All take these keywords:
        indices_are_sorted: the index arrays are in ascending order.
        unique_indices: no element is named twice.
        mode: what to do with an index out of range. For changes "drop" (the default, also "fill")
            leaves it out, "clip" takes the nearest element, and "promise_in_bounds" says that there
            is none. For `get`, "clip" is the default and "fill" gives `fill_value`.
        wrap_negative_indices: whether negative indices count from the end; otherwise they are out
            of range.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Values broadcast to the shape of `x[index]`. The result has the dtype of x, with a FutureWarning
    where that loses information. Where an element is named several times, all changes but `set`
    apply one after another; of several values to `set`, one is taken.

    >>> irax.numpy.zeros(3).at[1:].add(2.0)
    Array([0., 2., 2.], dtype=float32)
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: Any) -> None:
        self.array: Array = array
        self.index: Any = index

    def __repr__(self) -> str:
        return f"<.at[...] of {self.array.aval}: call .set, .add, .multiply, .get, ... on it>"

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"x.at[i] has no attribute {name!r}: it has set, add, subtract, multiply, divide, "
            "power, min, max, mul, apply and get; x[i] are the elements",
            name=name,
            obj=self,
        )

    def _no_operator(self, other: Any) -> NoReturn:
        raise TypeError(
            "x.at[i] is no array: x.at[i].add(v), .multiply(v), .set(v), ... make a changed copy "
            "of x; x[i] are the elements"
        )

    def _update(self, what: str, options: dict[str, Any]) -> _Update:
        chosen = _Options(what, **options)
        parts = parse(self.array.shape, self.index, chosen.wrap, is_update=True)
        return _Update(
            what, self._there(what), _clamped(parts) if chosen.mode == "clip" else parts, chosen
        )

    def _there(self, what: str) -> Array:
        """The array, where the arrays of the index are."""
        return beside(f"x.at[...].{what}", self.array, arrays_of(self.index))

    @api_boundary
    @takes_out_sharding("at[...].get", sums=True)
    def get(self, *, fill_value: Any = None, strategy: Any = "auto", **options: Any) -> Array:
        """Return the elements at the index, as `x[index]`, with a choice of mode for indices out of
        range.

        Args:
            fill_value: with mode="fill", the value of elements out of range. By default nan,
                the smallest signed and the largest unsigned integer, True.
            strategy: "static_slice" or "dynamic_slice" for an index that is to be one, or else is
                refused; "gather" or "auto" for any.
            options: see the class.

        Raises:
            IndexError: an int is out of range, with the option `check_static_indices`.
            TypeError: the index is not of the strategy.
        """
        check_strategy(strategy, self.index)
        chosen = _Options("get", **options)
        parts = parse(self.array.shape, self.index, chosen.wrap)
        array = self._there("get")
        if chosen.mode in ("fill", "drop"):
            return indexing.read_or_fill(array, parts, fill_value)
        if chosen.mode == "promise_in_bounds":
            indexing.check_ints(parts)
        return indexing.read(array, parts)

    @api_boundary
    @takes_out_sharding("at[...].set")
    def set(self, values: Any, **options: Any) -> Array:
        """Return a copy of x with the elements at the index set to `values`."""
        return self._update("set", options).set(values)

    @api_boundary
    @takes_out_sharding("at[...].add")
    def add(self, values: Any, **options: Any) -> Array:
        """Return a copy of x with `values` added to the elements at the index."""
        return self._update("add", options).combine("add", values)

    @api_boundary
    @takes_out_sharding("at[...].subtract")
    def subtract(self, values: Any, **options: Any) -> Array:
        """Return a copy of x with `values` subtracted from the elements at the index."""
        return self._update("subtract", options).subtract(values)

    @api_boundary
    @takes_out_sharding("at[...].multiply")
    def multiply(self, values: Any, **options: Any) -> Array:
        """Return a copy of x with the elements at the index multiplied by `values`."""
        return self._update("multiply", options).combine("multiply", values)

    mul = multiply

    @api_boundary
    @takes_out_sharding("at[...].divide")
    def divide(self, values: Any, **options: Any) -> Array:
        """Return a copy of x, as floats, with the elements at the index divided by `values`."""
        return self._update("divide", options).divide(values)

    @api_boundary
    @takes_out_sharding("at[...].power")
    def power(self, values: Any, **options: Any) -> Array:
        """Return a copy of x with the elements at the index raised to the power of `values`."""
        return self._update("power", options).power(values)

    @api_boundary
    @takes_out_sharding("at[...].min")
    def min(self, values: Any, **options: Any) -> Array:
        """Return a copy of x with the minimum of its elements and `values` at the index."""
        return self._update("min", options).combine("minimum", values)

    @api_boundary
    @takes_out_sharding("at[...].max")
    def max(self, values: Any, **options: Any) -> Array:
        """Return a copy of x with the maximum of its elements and `values` at the index."""
        return self._update("max", options).combine("maximum", values)

    @api_boundary
    @takes_out_sharding("at[...].apply")
    def apply(self, func: Callable[[Array], Array], **options: Any) -> Array:
        """Return a copy of x with `func` applied to the elements at the index, once for each time
        that an element is named.

        Args:
            func: takes and gives an array of any shape, element by element.
            options: see the class. For traced index arrays, `unique_indices=True` saves a loop.
        """
        return self._update("apply", options).apply(func)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "matmul"):
    setattr(AtIndex, f"__{_name}__", AtIndex._no_operator)


class _Options:
    """The keywords of the methods."""

    def __init__(
        self,
        what: str,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> None:
        self.sorted = bool(indices_are_sorted)
        self.unique = bool(unique_indices)
        self.wrap = wrap_negative_indices
        default = "promise_in_bounds" if what == "get" else "drop"
        mode = default if mode is None else getattr(mode, "name", mode)
        modes = _MODES if what == "get" else _MODES | {"one_hot": "drop"}
        self.mode = modes.get(mode.lower()) if isinstance(mode, str) else None
        if self.mode is None:
            raise ValueError(
                f"{what}: mode must be one of 'clip', 'drop', 'fill' and 'promise_in_bounds', got "
                f"{mode!r}"
            )


_MODES = {m: m for m in ("clip", "drop", "fill", "promise_in_bounds")} | {"fill_or_drop": "fill"}


class _Update:
    """One change of one array."""

    def __init__(self, what: str, x: Array, parts: Parts, options: _Options) -> None:
        self.what = what
        self.x = x
        self.parts = parts
        self.options = options
        self.drops = options.mode in ("drop", "fill")

    @cached_property
    def once(self) -> bool:
        """True if it is known that no element is named twice."""
        return self.options.unique or not self.parts.fancy or _all_different(self.parts)

    # -- the kinds of change --

    def set(self, values: Any) -> Array:
        return self._write("set", self._values(values))

    def combine(self, combiner: str, values: Any) -> Array:
        return self._combined(combiner, self._fitting(values))

    def subtract(self, values: Any) -> Array:
        values = self._fitting(values)
        if self.x.dtype == values.dtype == np.bool_:
            raise TypeError("subtract: booleans cannot be subtracted; use ^ (exclusive or)")
        return self._combined("add", values, negated=True)

    def _combined(self, combiner: str, values: Array, negated: bool = False) -> Array:
        """Combine values with what is there, in the dtype that both promote to."""
        dtype = dtypes.lattice_result_type(self.x.aval.dtype, values)[0]
        values = convert(values, dtype)
        if negated:
            values = bind(ops.negate, values)
        if dtype == self.x.dtype:
            return self._write(combiner, values)
        wide = _Update(self.what, convert(self.x, dtype), self.parts, self.options)
        return convert(wide._write(combiner, values), self.x.dtype, self.x.weak_type)

    def divide(self, values: Any) -> Array:
        if not dtypes.issubdtype(self.x.dtype, np.inexact):
            self.x = convert(self.x, dtypes.default_float())
        values = self._values(values)
        if self.once:
            return self._write("set", apply(ops.divide, self._there(), values, what=self.what))
        return apply(ops.divide, self.x, self._products(values), what=self.what)

    def power(self, values: Any) -> Array:
        values = self._values(values)
        if self.once:
            return self._write("set", jnp.power(self._there(), values))
        return jnp.power(self.x, self._products(values))

    def apply(self, func: Callable[[Array], Array]) -> Array:
        if 0 in self.x.shape:
            return self.x
        if self.once:
            return self.set(func(self._there()))
        # By the number of each element in memory, which all forms of an index come down to.
        numbers = ConcreteArray(
            np.arange(self.x.size, dtype=dtype_of_places(self.x.size)).reshape(self.x.shape)
        )
        nowhere = self.x.size if self.drops else None
        places = indexing.read_or_fill(numbers, self.parts, nowhere)
        if not isinstance(places, ConcreteArray):
            return self._apply_repeatedly(func, indexing.reshape(places, (places.size,)))
        values, counts = np.unique(places.value, return_counts=True)
        counts = counts[values < self.x.size]
        values = values[: counts.size]
        flat = indexing.reshape(self.x, (self.x.size,))
        for done in range(counts.max(initial=0)):
            flat = AtIndex(flat, values[counts > done]).apply(func)
        return indexing.reshape(flat, self.x.shape)

    def _apply_repeatedly(self, func: Callable[[Array], Array], places: Array) -> Array:
        """Apply a function to the elements at traced places, as often as each is there."""
        counts = AtIndex(jnp.zeros(self.x.size, np.int32), places).add(1)
        counts = indexing.reshape(counts, self.x.shape)

        def step(done: Array, x: Array) -> Array:
            new = convert(func(x), x.dtype, x.weak_type)
            return jnp.where(jnp.less(done, counts), new, x)

        return fori_loop(0, jnp.max(counts), step, self.x, max_steps=places.size)

    # -- parts of them --

    def _values(self, values: Any) -> Array:
        """Return the values as an array of the dtype of x, of a shape that broadcasts."""
        return convert(self._fitting(values), self.x.dtype)

    def _fitting(self, values: Any) -> Array:
        """Return the values as an array of a shape that broadcasts."""
        if isinstance(values, list | tuple):
            values = jnp.asarray(values)
        if type(values) is bool:  # which is 0 or 1 in each dtype
            values = convert(as_array(values), self.x.dtype)
        what = f"{self.what}: values"
        values = as_array(fitted(values, self.x.dtype, what), what, self.x.dtype)
        target = self.parts.result_shape()
        try:
            fits = broadcast_shapes(values.shape, target) == target
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"{self.what}: values of shape {values.shape} do not broadcast to the shape of "
                f"x[index], {target}"
            )
        if not values.ndim:
            values = beside(self.what, values, [self.x])
        dtype = self.x.dtype
        if dtypes.lattice_result_type(self.x.aval.dtype, values)[0] != dtype:
            source.warn(
                f"{self.what}: values of dtype {values.dtype.name} make a result that is converted "
                f"to the dtype of the array, {dtype.name}, which loses information: convert one of "
                "them with .astype(...)",
                FutureWarning,
            )
        if values.ndim and config.numpy_rank_promotion != "allow":  # which is not about these
            ones = (1,) * (len(target) - values.ndim)
            return indexing.reshape(values, (*ones, *values.shape))
        return values

    def _there(self) -> Array:
        if 0 in self.x.shape:
            return ConcreteArray(np.zeros(self.parts.result_shape(), self.x.dtype))
        return indexing.read(self.x, self.parts)

    def _products(self, values: Array) -> Array:
        """Return for each element of x the product of the values that are to multiply it."""
        ones = ConcreteArray(np.ones(self.x.shape, self.x.dtype))
        return _Update(self.what, ones, self.parts, self.options)._write("multiply", values)

    # -- writing --

    def _write(self, combiner: str, values: Array) -> Array:
        """Writes values, or combines them with what is there."""
        x, parts = self.x, self.parts
        if 0 in (*x.shape, *parts.result_shape()):
            return x
        if parts.int_outside and self.drops and elements(x) is not None:
            return x
        if indexing.is_nested(parts):
            outer, inner = indexing.nested(parts)
            window = indexing.read(indexing.reshape(x, parts.shape), outer)
            changed = _Update(self.what, window, inner, self.options)._write(combiner, values)
            return _Update(self.what, x, outer, self.options)._write("set", changed)
        leaves_out = parts.outside and self.drops
        if parts.known and not leaves_out:
            known, new = elements(x), elements(values)
            if known is not None and new is not None:
                return self._write_now(combiner, known, new)
        if combiner != "set" and not parts.fancy:
            values = apply(_COMBINERS[combiner][0], self._there(), values, what=self.what)
        values = broadcast_to(values, parts.result_shape())
        x = indexing.reshape(x, parts.shape)
        if parts.fancy:
            x = self._scatter(combiner, x, values)
        elif parts.indexed():
            x = self._write_dynamic(x, _as_region(values, parts))
        else:
            x = _write_region(x, parts.dims, _as_region(values, parts))
        return indexing.reshape(x, self.x.shape)

    def _write_now(self, combiner: str, x: np.ndarray, values: np.ndarray) -> Array:
        index = tuple(self.parts.for_numpy)
        if combiner == "set":
            out = np.array(x)
            out[index] = values
            return ConcreteArray(out, self.x.weak_type)
        # In float32 where floats are narrower, as a scatter: a sum of bfloat16 stops at 256.
        wide = working_dtype(x.dtype)
        out = np.array(x, wide)
        with np.errstate(all="ignore"):
            _COMBINERS[combiner][1].at(out, index, values.astype(wide, copy=False))
            out = out.astype(x.dtype, copy=False)
        return ConcreteArray(out, self.x.weak_type)

    def _write_dynamic(self, x: Array, values: Array) -> Array:
        """Writes where traced scalars say, which a dynamic_update_slice clamps."""
        part, dims = indexing.fold_strides(x, self.parts)
        check_region(part, values.shape, "x.at[...]", is_new=False)
        starts = indexing.start_scalars(dims)
        inside = indexing.is_inside(self.parts) if self.drops else None
        if inside is not None:
            there = bind(dynamic_slices.DynamicSlice(values.shape), part, *starts)
            values = bind(comparison.select, inside, values, there)
        part = bind(
            dynamic_slices.DynamicUpdateSlice(), part, values, *starts, weak_type=x.weak_type
        )
        return _write_region(x, indexing.strided(self.parts), part)

    def _scatter(self, combiner: str, x: Array, values: Array) -> Array:
        parts = self.parts
        part = indexing.read_region(x, parts)
        dims, vectors = indexing.window_dims(parts)
        op = gather_scatter.Scatter(combiner, dims, self.options.sorted, self.once)
        values = indexing.reshape(values, parts.result_shape(with_new=False))
        part = bind(op, part, vectors, values, weak_type=x.weak_type)
        return _write_region(x, parts.dims, _as_region(part, parts))


def _as_region(values: Array, parts: Parts) -> Array:
    """Return values that were read from a region in the layout of the array."""
    return indexing.flip(indexing.reshape(values, indexing.region_sizes(parts)), parts.dims)


def _write_region(x: Array, dims: Sequence[Dim], values: Array) -> Array:
    """Replaces what `indexing.slice_region` reads; `values` has the shape of that."""
    if values.shape == x.shape:
        check_update(x, values, "x.at[...]")
        return divided_like("x.at[...]", values, x)
    check_region(x, values.shape, "x.at[...]", is_new=False)
    if all(dim.step == 1 for dim in dims):
        starts = indexing.start_scalars([replace(dim, indices=None) for dim in dims])
        return bind(dynamic_slices.DynamicUpdateSlice(), x, values, *starts, weak_type=x.weak_type)
    starts, between = tuple(dim.start for dim in dims), tuple(dim.step - 1 for dim in dims)
    none = (0,) * len(dims)
    ends = slicing.Pad(starts, none, between).result_shape(values.shape)
    rest = tuple(n - end for n, end in zip(x.shape, ends, strict=True))
    spread = slicing.Pad(starts, rest, between)
    everywhere = broadcast_to(ConcreteArray(np.array(True)), values.shape)
    there = bind(spread, everywhere, ConcreteArray(np.array(False)))
    values = bind(spread, values, ConcreteArray(np.zeros((), x.dtype)))
    return bind(comparison.select, there, values, x, weak_type=x.weak_type)


def _all_different(parts: Parts) -> bool:
    """Return True if index arrays are known to name no element twice."""
    if not parts.known or parts.outside:
        return False
    dims = parts.indexed()
    arrays = [as_array(parts.dims[d].indices).concrete("an index", TypeError) for d in dims]
    arrays = np.broadcast_arrays(*arrays)
    places = np.ravel_multi_index(arrays, [parts.shape[d] for d in dims])
    return np.unique(places).size == places.size


def _clamped(parts: Parts) -> Parts:
    """Return the index with indices out of range clamped to the nearest element."""

    def nearest(dim: Dim, n: int) -> Dim:
        if dim.indices is None:
            return dim
        if isinstance(dim.indices, np.ndarray):
            return replace(dim, indices=np.clip(dim.indices, 0, n - 1))
        indices = with_number(ops.maximum, dim.indices, 0)
        return replace(dim, indices=with_number(ops.minimum, indices, dim.last(n)))

    dims = [nearest(dim, n) for dim, n in zip(parts.dims, parts.shape, strict=True)]
    return replace(parts, dims=dims, outside=False, int_outside="")


# ---- x[i] = v ------------------------------------------------------------------------------------

_AUGMENTED = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}


def refuse_setitem(x: Array, index: Any, value: Any) -> NoReturn:
    """Says how to write `x[index] = value`: arrays do not change."""
    raise TypeError(
        f"an array cannot be changed, at {source.user_line()}: make a changed copy, "
        f"{_line_to_write() or 'x = x.at[index].set(value)'}"
    )


def refuse_delitem(x: Array, index: Any) -> NoReturn:
    """Says how to write `del x[index]`: arrays do not change."""
    raise TypeError(
        f"an array cannot be changed, at {source.user_line()}: make one without these elements, "
        "x = irax.numpy.delete(x, index)"
    )


def _line_to_write() -> str | None:
    """Return the user's line rewritten with `.at`, if it is an assignment that can be read."""
    frame = source.user_frame()
    if frame is None:
        return None
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return None
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            method = "set"
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            method = _AUGMENTED.get(type(op))
        case _:
            return None
    if method is None:
        return None
    array = ast.unparse(target.value)
    at = ast.Attribute(value=target.value, attr="at")
    there = ast.unparse(ast.Subscript(value=at, slice=target.slice))
    return f"{array} = {there}.{method}({ast.unparse(value)})"
