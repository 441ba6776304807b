"""The parameters of ops: fields of a dataclass, which the IR holds in attributes, in types or in
regions.

    permutation: tuple[int, ...] = attribute(I64S)    in an attribute, by a codec
    dtype: np.dtype = result_dtype()                  in the type of the result
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation
from irax_compiler.sizes import Size


@dataclass(frozen=True)
class AttributeCodec:
    """The conversion of a parameter to an attribute, and back."""

    encode: Callable[[Any], Attribute]
    decode: Callable[[Any], Any]
    name: str = ""
    default: Any = None


def attribute(codec: AttributeCodec, name: str = "", default: Any = None) -> Any:
    """A dataclass field held in the attribute `name` (by default the field's own name).

    An absent attribute reads as `default`.
    """
    codec = AttributeCodec(codec.encode, codec.decode, name, default)
    return field(metadata={"codec": codec})


def from_result(decode: Callable[[Any], Any]) -> Any:
    """A dataclass field that the IR holds in the type of the (first) result."""
    return field(metadata={"result": decode})


def from_operation(decode: Callable[[Operation], Any]) -> Any:
    """A dataclass field that the IR holds elsewhere in the operation, such as in a region."""
    return field(metadata={"operation": decode})


def result_shape() -> Any:
    """The field is the result's shape."""
    return from_result(mlir.shape_of_type)


def result_dtype() -> Any:
    """The field is the result's NumPy dtype."""
    return from_result(mlir.dtype_of_type)


def encoded(op: Any) -> dict[str, Attribute]:
    """The attributes that hold an op's fields; none for a field that is None."""
    found = {}
    for f in fields(op):
        codec, value = f.metadata.get("codec"), getattr(op, f.name)
        if isinstance(codec, AttributeCodec) and value is not None:
            found[codec.name or f.name] = codec.encode(value)
    return found


@cache
def decoders(cls: type) -> tuple[tuple[str, Callable[[Operation], Any]], ...]:
    """Return, for each field of an op's class, its name and the function that reads it from an
    operation.
    """

    def decoder(name: str, metadata: Any) -> Callable[[Operation], Any]:
        if "result" in metadata:
            return lambda operation: metadata["result"](operation.results[0].type)
        if "operation" in metadata:
            return metadata["operation"]
        codec: AttributeCodec = metadata["codec"]
        key = codec.name or name

        def decode(operation: Operation) -> Any:
            attributes = operation.attributes
            return codec.decode(attributes[key]) if key in attributes else codec.default

        return decode

    return tuple((f.name, decoder(f.name, f.metadata)) for f in fields(cls))


def _i64s(values: Sequence[int]) -> Attribute:
    return mlir.parse_attribute("array<i64" + (": " if values else "") + _commas(values) + ">")


def _commas(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def sized(kind: str, encode: Callable[[Any], Attribute], decode: Callable[[Any], Any]) -> Any:
    """The codec of a tuple of sizes, by functions for sizes that are known. Where one of them is
    symbolic, the attribute is `#irax.KIND<"...">`.
    """

    def encode_sizes(sizes: Sequence[Any]) -> Attribute:
        if any(isinstance(n, Size) for n in sizes):
            return mlir.sizes_attribute(tuple(sizes), kind)
        return encode(sizes)

    def decode_sizes(attribute: Any) -> Any:
        found = mlir.sizes_in(attribute)
        return decode(attribute) if found is None else found[1]

    SIZED[kind] = encode
    return AttributeCodec(encode_sizes, decode_sizes)


SIZED: dict[str, Callable[[Any], Attribute]] = {}
"""Functions that make attributes of known sizes, by the kind of those of symbolic ones."""


def _pairs(flat: Sequence[int]) -> Attribute:
    return mlir.dense(np.array(flat, np.int64).reshape(-1, 2))


@lru_cache(maxsize=4096)
def _flat(attribute: Attribute) -> tuple[int, ...]:
    contents, type_ = mlir.attribute_text(attribute).split(" : ")
    found = re.search(r"<(\d+)x2x", type_)
    assert found is not None
    flat = tuple(int(n) for n in re.findall(r"-?\d+", contents))
    return flat * (2 * int(found[1])) if len(flat) == 1 else flat  # one number: all are the same


I64S = sized("sizes", _i64s, tuple)
"""A tuple of sizes in `array<i64: ...>`."""
_size = sized("size", lambda v: mlir.parse_attribute(f"{v[0]} : i64"), lambda a: (a.value,))
I64 = AttributeCodec(lambda v: _size.encode((v,)), lambda a: _size.decode(a)[0])
"""A size in `n : i64`."""
_flat_pairs = sized("pairs", _pairs, _flat)
PAIRS = AttributeCodec(
    lambda v: _flat_pairs.encode([n for pair in v for n in pair]),
    lambda a: tuple(zip((flat := _flat_pairs.decode(a))[::2], flat[1::2], strict=True)),
)
"""Pairs of sizes in `dense<[[...]]> : tensor<nx2xi64>`."""
I32 = AttributeCodec(lambda v: mlir.parse_attribute(f"{v} : i32"), lambda a: a.value)
"""An int in `n : i32`."""
FLAG = AttributeCodec(lambda v: mlir.parse_attribute("true" if v else "false"), lambda a: a.value)
"""A bool."""


STRING = AttributeCodec(mlir.string, lambda a: a.value)
"""A string."""
STRINGS = AttributeCodec(
    lambda v: mlir.array([mlir.string(text) for text in v]), lambda a: tuple(s.value for s in a)
)
"""A tuple of strings."""
SYMBOL = AttributeCodec(mlir.symbol, lambda a: a.value)
"""The name of a function of the module: `@name`."""


def keyword(kind: str) -> AttributeCodec:
    """One of StableHLO's enumerations: "LT" in `#stablehlo<comparison_direction LT>`."""
    return AttributeCodec(
        lambda v: mlir.parse_attribute(f"#stablehlo<{kind} {v}>"),
        lambda a: mlir.attribute_text(a)[len(f"#stablehlo<{kind} ") : -1],
    )


def numbers(kind: str, cls: type, keys: Sequence[str] = ()) -> AttributeCodec:
    """One of StableHLO's structs of dimension numbers, such as `#stablehlo.dot<...>`.

    `cls` is a frozen dataclass of ints and tuples of ints, 0 and () by default: what the text
    leaves out. `keys` are the names of its fields in the text, where those differ.
    """
    names = [f.name for f in fields(cls)]
    keys = keys or names

    def encode(value: Any) -> Attribute:
        stated = ((key, getattr(value, name)) for key, name in zip(keys, names, strict=True))
        items = (
            f"{key} = " + (f"[{_commas(v)}]" if isinstance(v, tuple) else str(v))
            for key, v in stated
            if v
        )
        return mlir.parse_attribute(f"#stablehlo.{kind}<{', '.join(items)}>")

    @lru_cache(maxsize=4096)
    def decode(attribute: Attribute) -> Any:
        found = re.findall(r"(\w+) = (\d+|\[[\d, ]*\])", mlir.attribute_text(attribute))
        values = {
            key: tuple(int(n) for n in re.findall(r"\d+", text)) if "[" in text else int(text)
            for key, text in found
        }
        stated = zip(keys, names, strict=True)
        return cls(**{name: values[key] for key, name in stated if key in values})

    return AttributeCodec(encode, decode)


def call_attributes(
    target: str, config: dict[str, Attribute], has_side_effect: bool = False
) -> dict[str, Attribute]:
    """Attributes of a `stablehlo.custom_call` of irax's own: its target and its parameters."""
    return {
        "call_target_name": mlir.string(target),
        "api_version": mlir.parse_attribute("4 : i32"),
        "has_side_effect": FLAG.encode(has_side_effect),
        "backend_config": mlir.dictionary(config),
    }
