"""Constants: dense attributes from NumPy's arrays, and arrays from attributes."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

import numpy as np

from irax_compiler.dtypes import width
from irax_compiler.interchange import bytecode_format, dense_text
from irax_compiler.mlir.attributes import attribute_text, parse_attribute
from irax_compiler.mlir.bindings import CONTEXT, UNKNOWN, Attribute, Operation, Value, ir
from irax_compiler.mlir.modules import bytecode, new_module
from irax_compiler.mlir.operations import definition
from irax_compiler.mlir.types import dtype_of, dtype_of_type, shape_of_type, tensor_type

_LONG_TEXT = 1 << 16
"""The bytes of elements from which other forms than text are looked for."""
_COMPLEX_NUMBER = re.compile(r"#complex\.number<:(\w+) ([^,]*), ([^>]*)>.*")


def dense(array: np.ndarray) -> Attribute:
    """A dense elements attribute with the contents, shape and dtype of `array`."""
    type_ = tensor_type(array.shape, array.dtype)
    if array.size > 1 and not any(array.strides):  # one element, repeated: it stays one
        if array.dtype == np.bool_:
            text = str(bool(array.flat[0])).lower()
            return ir.Attribute.parse(f"dense<{text}> : {type_}", CONTEXT)
        contents: Any = array[(slice(1),) * array.ndim]
        with UNKNOWN:
            return ir.DenseElementsAttr.get(contents, type=type_)
    contents = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype == np.bool_:
        # The bindings take booleans as packed bits and mistake one byte of them for a splat.
        if array.size == 0:
            return ir.Attribute.parse(f"dense<> : {type_}", CONTEXT)
        return ir.Attribute.parse(f'dense<"0x{array.tobytes().hex()}"> : {type_}', CONTEXT)
    with UNKNOWN:
        return ir.DenseElementsAttr.get(contents, type=type_)


def number_of(attribute: Any) -> complex:
    """Return the number that an attribute such as `1.0 : f32`, `true` or a complex number is."""
    if parts := _COMPLEX_NUMBER.fullmatch(attribute_text(attribute)):
        real, imaginary = (parse_attribute(f"{x} : {parts[1]}") for x in (parts[2], parts[3]))
        return complex(number_of(real), number_of(imaginary))
    return attribute.value


def dense_to_numpy(operation: Operation, name: str = "value") -> np.ndarray:
    """The contents of a dense elements attribute of `operation` as a NumPy array, which may be a
    view of MLIR's memory and is not to be written to.
    """
    type_ = operation.results[0].type
    dtype = dtype_of_type(type_)
    if name == "value" and is_apart(operation):
        return _resource(operation, dtype).reshape(type_.shape)
    if dtype.kind in "biuf" and dtype.type.__module__ == "numpy":
        attribute: Any = operation.attributes[name]
        if isinstance(attribute, ir.DenseElementsAttr):
            if (element := _splat_element(attribute, dtype)) is not None:
                return np.broadcast_to(element, type_.shape)
            return np.asarray(attribute).reshape(type_.shape)
    # Complex, bfloat16, float8 and narrower contents have no buffer in the bindings.
    if name == "value":
        found = written_elements(operation, shape_of_type(type_), dtype)
        if found is not None:
            return found
    text = _text_alone(operation)
    match = re.search(r"dense<(.*)> : tensor", text, re.DOTALL)
    if match is not None:
        return dense_text.parse(match[1], tuple(type_.shape), dtype)
    raise TypeError(f"{operation.name}: cannot read its contents: {text[:120]}")


def written_elements(
    operation: Operation, extents: tuple[int, ...], dtype: np.dtype
) -> np.ndarray | None:
    """The elements of a large constant of any dialect, as MLIR's bytecode has them; None for
    others, and for those that repeat one element.
    """
    size = math.prod(extents) * dtype.itemsize
    if size < _LONG_TEXT or width(dtype) < 8 or dtype == np.bool_:
        return None
    holder = new_module()
    operation.clone(ip=ir.InsertionPoint(holder.body))
    found = bytecode_format.elements(bytecode(holder), size)
    return None if found is None else np.frombuffer(found, dtype).reshape(extents)


def attributes_of(operation: Operation) -> dict[str, Attribute]:
    """The attributes of an operation, by their names. For the elements of a complex constant the
    bindings have no class, and raise.
    """
    found = {}
    for name in operation.attributes:
        try:
            found[name] = operation.attributes[name]
        except TypeError:
            found[name] = dense(dense_to_numpy(operation, name))
    return found


def _text_alone(operation: Operation, most: int | None = None) -> str:
    """Return the text of a constant by itself: in its function, all values would be numbered for
    it. Constants of more elements than `most` are cut short.
    """
    text: Any = operation.clone(ip=False).get_asm(large_elements_limit=most)
    return text


def is_apart(operation: Operation) -> bool:
    """True for a constant whose contents are kept apart, under a name, at the end of the module."""
    try:
        attribute: Any = operation.attributes["value"]
        if isinstance(attribute, ir.DenseElementsAttr):
            return False
        ir.DenseResourceElementsAttr(attribute)
    except (TypeError, ValueError):  # it is another; complex elements have no class: TypeError
        return False
    return True


def _resource(operation: Operation, dtype: np.dtype) -> np.ndarray:
    """The elements of a constant that are kept apart, flat."""
    holder = new_module()
    operation.clone(ip=ir.InsertionPoint(holder.body))
    type_ = operation.results[0].type
    count = math.prod(type_.shape)
    found = bytecode_format.resource(bytecode(holder))
    if found is None:
        named = re.search(r'dense_resource<"?(.*?)"?> : ', _text_alone(operation, most=1))
        name = repr(named[1]) if named else "its contents"
        raise TypeError(
            f"{operation.name} at {operation.location}: the module lacks the contents {name} of "
            f"a {type_}; expected them under dialect_resources at its end: export it with them"
        )
    if dtype == np.bool_ and len(found) == -(-count // 8) != count:
        packed = np.frombuffer(found, np.uint8)
        return np.unpackbits(packed, count=count, bitorder="little").astype(bool)
    if len(found) != count * dtype.itemsize or (width(dtype) < 8 and dtype != np.bool_):
        raise TypeError(
            f"{operation.name} at {operation.location}: cannot read {len(found)} bytes as a "
            f"{type_}; expected {count * dtype.itemsize} bytes, one element after the other"
        )
    return np.frombuffer(found, dtype)


def integer_of(value: Value) -> int | None:
    """Return the integer or index that an `arith.constant` is; None for any other value."""
    operation = definition(value)
    if operation is None or operation.name != "arith.constant":
        return None
    attribute: Any = operation.attributes["value"]
    return int(attribute.value) if isinstance(attribute, ir.IntegerAttr) else None


_SIZED_BROADCAST = "irax.broadcast_in_dim"


def splat(value: Value) -> np.ndarray | None:
    """The element, as a scalar array, of a constant whose elements are all the same, or of a
    constant that is broadcast to symbolic sizes; None for any other value.
    """
    operation = definition(value)
    if operation is not None and operation.name == _SIZED_BROADCAST:
        return splat(operation.operands[0])
    if operation is None or operation.name != "stablehlo.constant":
        return None
    dtype = dtype_of(value)
    if dtype.kind == "c":  # no attribute class in the bindings; a splat is printed as one element
        match = re.search(r"dense<(\([^()]*\))> : tensor", _text_alone(operation, most=1))
        return None if match is None else dense_text.parse(match[1], (), dtype)
    attribute: Any = operation.attributes["value"]
    return _splat_element(attribute, dtype)


@lru_cache(maxsize=65536)
def _splat_element(attribute: Any, dtype: np.dtype) -> np.ndarray | None:
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    element: Any = attribute.get_splat_value()
    return np.asarray(element.value, dtype)
