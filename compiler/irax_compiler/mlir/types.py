"""Types of the IR, and the NumPy dtypes that they stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from irax_compiler.dtypes import DTYPES, inexact
from irax_compiler.interchange import other_forms
from irax_compiler.mlir.bindings import CONTEXT, UNKNOWN, Attribute, Type, ir
from irax_compiler.sizes import Size
from irax_compiler.sizes.encoding import encoded, parse_encoded

UNKNOWN_SIZE: int = ir.ShapedType.get_dynamic_size()
"""Stands for `?` where the bindings give sizes as numbers."""

_ELEMENT_TYPES: dict[np.dtype, Type] = {
    dtype: ir.Type.parse(text, CONTEXT) for text, dtype in DTYPES.items()
}

_DTYPE_OF: dict[Type, np.dtype] = {element: dtype for dtype, element in _ELEMENT_TYPES.items()}


@cache
def element_type(dtype: np.dtype) -> Type:
    """The MLIR element type of a NumPy dtype. Raises TypeError for one that has none."""
    try:
        return _ELEMENT_TYPES[np.dtype(dtype)]
    except KeyError:
        known = ", ".join(str(d) for d in _ELEMENT_TYPES)
        raise TypeError(
            f"dtype {dtype} has no MLIR element type; expected one of {known}"
        ) from None


@lru_cache(maxsize=65536)
def tensor_type(shape: tuple[int, ...], dtype: np.dtype) -> Type:
    """`tensor<4x4xf32>` of shape (4, 4) and dtype float32. One with symbolic sizes has `?` in their
    places, and an encoding that has all sizes as text.
    """
    if not any(isinstance(n, Size) for n in shape):
        return ir.RankedTensorType.get(shape, element_type(dtype), loc=UNKNOWN)
    extents = [UNKNOWN_SIZE if isinstance(n, Size) else n for n in shape]
    return ir.RankedTensorType.get(extents, element_type(dtype), sizes_attribute(shape), UNKNOWN)


_BOUNDS = "#stablehlo.bounds"
_BOUNDED = (
    "has a size that depends on elements, of which only the bound is known: not supported; "
    "expected static shapes, as of where(mask, x, 0) in place of x[mask]"
)
"""The end of messages about types with bounds."""


@lru_cache(maxsize=65536)
def sizes_attribute(sizes: tuple[Any, ...], kind: str = "sizes") -> Attribute:
    """Sizes, some of which are symbolic, as an attribute: `#irax.sizes<"batch, 784">`."""
    return ir.Attribute.parse(f'#irax.{kind}<"{encoded(sizes)}">', CONTEXT)


@lru_cache(maxsize=65536)
def sizes_in(attribute: Any) -> tuple[str, tuple[Any, ...]] | None:
    """The kind and the sizes of an attribute that `sizes_attribute` made; None for any other."""
    if not isinstance(attribute, ir.OpaqueAttr):
        return None
    kind, _, text = str(attribute).removeprefix("#irax.").partition('<"')
    return (kind, parse_encoded(text[:-2])) if text else None


@lru_cache(maxsize=1024)
def parse_type(text: str) -> Type:
    """A type from its text."""
    return ir.Type.parse(text, CONTEXT)


@lru_cache(maxsize=65536)
def type_text(type_: Type) -> str:
    """The text of a type, kept: printing costs microseconds and passes ask again."""
    return str(type_)


def function_type(inputs: Sequence[Type], results: Sequence[Type]) -> Type:
    """`(inputs) -> (results)`."""
    return ir.FunctionType.get(list(inputs), list(results), CONTEXT)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a value (or of anything with a tensor `.type`)."""
    return shape_of_type(value.type)


def shape_of_type(type_: Any) -> tuple[int, ...]:
    """The shape of a tensor type. Sizes that are not known are symbolic. Raises TypeError for types
    of other values.
    """
    try:
        shape = tuple(type_.shape)
    except (AttributeError, ValueError):  # it is no tensor, or one without a rank
        raise TypeError(type_problem(type_)) from None
    return _symbolic_shape(type_) if UNKNOWN_SIZE in shape else shape


@lru_cache(maxsize=65536)
def _symbolic_shape(type_: Any) -> tuple[Any, ...]:
    found = sizes_in(type_.encoding)
    if found is None:
        if _BOUNDS in str(type_.encoding):
            raise TypeError(f"{type_} {_BOUNDED}")
        raise TypeError(f"{type_} is of dynamic shape, and does not name its sizes")
    return found[1]


def is_sized(type_: Any) -> bool:
    """True for a tensor type with symbolic sizes."""
    return isinstance(type_, ir.RankedTensorType) and UNKNOWN_SIZE in type_.shape


def dtype_of(value: Any) -> np.dtype:
    """The NumPy dtype of a value (or of anything with a tensor `.type`)."""
    return dtype_of_type(value.type)


def bytes_of(value: Any) -> int:
    """The bytes of the elements of a tensor."""
    return math.prod(shape_of(value)) * dtype_of(value).itemsize


def dtype_of_type(type_: Any) -> np.dtype:
    """The NumPy dtype of a tensor type. Raises TypeError for element types irax does not know."""
    element = type_.element_type
    try:
        return _DTYPE_OF[element]
    except KeyError:
        raise TypeError(_of_elements(type_)) from None


def _of_elements(type_: Any) -> str:
    element = str(type_.element_type)
    cure = other_forms.cure(element) if element.startswith("!") else ""
    return f"element type {element} of {type_} is not supported" + (f"; {cure}" if cure else "")


@lru_cache(maxsize=65536)
def type_problem(type_: Any) -> str | None:
    """Why there are no values of a type, as an error can say it; None where there are."""
    if not isinstance(type_, ir.RankedTensorType):
        is_tensor = isinstance(type_, ir.UnrankedTensorType)
        cure = "" if is_tensor else other_forms.cure(str(type_))
        expected = cure or "expected tensors of known rank"
        return f"values of type {type_} are not supported; {expected}"
    named = sizes_in(type_.encoding) is not None
    if not named and _BOUNDS in str(type_.encoding):
        return f"{type_} {_BOUNDED}"
    if not type_.has_static_shape and not named:
        return f"{type_} is of dynamic shape: not supported; expected static shapes"
    if type_.encoding is not None and not named:
        return f"{type_} has an encoding: not supported"
    if type_.element_type not in _DTYPE_OF:
        return _of_elements(type_)
    if not named and math.prod(type_.shape) >= 2**47:
        return f"{type_} is larger than any memory"
    return None


def is_inexact(value: Any) -> bool:
    """True where a tangent can live: floating-point and complex element types."""
    return inexact(dtype_of(value))
