"""The base class of ops. An op is one object with its parameters and all its rules.

    Transpose(permutation=(1, 0))(x)      builds the operation at the current insertion point
    read(operation)                       gives the same object back from the IR
    op.evaluate(call, array)              its meaning, in NumPy
    op.jvp / op.transpose / op.batch      its derivative, its transpose, its batched form

An op with parameters is an instance of its own class, a frozen dataclass whose fields are the
parameters. One without is an instance of a shared class (`elementwise.sine`). The first argument of
each rule is the transformation that calls it (`transformation.py`); its operands and results are
`Value`s. None stands for a zero tangent or cotangent, so no dead arithmetic is ever emitted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops.transformation import (
    Batching,
    Differentiation,
    Evaluation,
    Linearization,
    Transposition,
)

Tangent = Value | None
Axis = int | None


class UnsupportedOp(NotImplementedError):
    """An operation, or a form of one, that irax has no rule for."""


class UnboundAxis(UnsupportedOp):
    """A collective that was asked for a result without the vmap that names its axis."""


class Typed(Protocol):
    """Whatever has a tensor type: a value, or an operand of which only the type is known."""

    @property
    def type(self) -> Any: ...


def no_calls(name: str, arguments: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """The `Evaluation` of ops that are evaluated outside of a module: it has no functions."""
    raise UnsupportedOp(f"a call of @{name}: there is no module that has it")


@dataclass(frozen=True)
class Linear:
    """Stands for an operand that an op is transposed with respect to: it has a type, no value."""

    type: Any


class ArrayType(NamedTuple):
    """The shape and dtype of an operand."""

    shape: tuple[int, ...]
    dtype: np.dtype


class Widened(Enum):
    """The relation of an op's results on 2- and 4-bit integers to those on the same numbers as
    8-bit integers.
    """

    SAME = "the same number"
    LOW_BITS = "a number of which the result is the low bits"
    LOW_BITS_OF_UNSIGNED = "LOW_BITS, if the first operand is taken as unsigned"
    OTHER = "something else"


class Memory(Enum):
    """The memory that a compiler may give the results of an op."""

    SAME_SIZE = "that of an operand of the same size, or memory of their own"
    PART = "part of that of any operand"
    ANY = "that of anything that goes into it, or is inside"
    FRESH = "their own"


class Recomputation(Enum):
    """The cost of computing something again in the kernel that uses it."""

    FREE = "nothing: a constant, or the elements of the operand by another index"
    CHEAP = "a few instructions an element"
    DEAR = "more than that, or a kernel of its own"


@dataclass(frozen=True)
class ScalarLowering:
    """An elementwise op in the kernel of a loop, as operations of arith and math."""

    build: Callable[[Operation, Sequence[Value]], Value]
    """Builds the result of an operation from registers that hold its operands."""
    applies: Callable[[Operation], bool] = lambda operation: True
    """Returns True if the lowering is valid for an operation's parameters and dtypes."""


class Op:
    """Base of all ops. Subclasses state parameters as fields and override the rules they have.

    Traits are the same for all ops of a name: passes ask `traits_of(operation)` for them, which
    reads no parameters.
    """

    name: str
    """The operation's name in the IR, such as `stablehlo.add`."""
    num_results: ClassVar[int] = 1

    # -- traits --

    elementwise: bool = False
    """True if each element of the results depends only on the operands' elements at the same index.
    NumPy broadcasts scalar operands of such an op by itself."""
    moves: bool = False
    """True if it only moves elements of its operands, to places given by its parameters."""
    stretches: bool = False
    """True if its result has the operand's elements, repeated, and no others."""
    is_view: bool = False
    """True if its result has the operand's elements in the same row-major order."""
    is_constant: bool = False
    """True if it is a constant."""
    is_pure: bool = True
    """True if its results depend on its operands alone and it does nothing else: it calls no
    function of the module, has no side effect, and is no barrier."""
    captures: bool = False
    """True if it also reads the values that its regions capture; they follow its operands."""
    memory: Memory = Memory.SAME_SIZE
    """The memory that its results may alias."""
    updates: bool = False
    """True if its results are its first operands, partly overwritten or permuted."""
    recomputation: Recomputation = Recomputation.DEAR
    """The cost of doing it again where its result is used."""
    arithmetic: bool = False
    """True if it takes one arithmetic operation per element of its result."""
    transcendental: bool = False
    """True if it counts as a transcendental function instead of as arithmetic."""
    commutative: bool = False
    """True if its two operands may be exchanged."""
    identity: Callable[[np.dtype], Any] | None = None
    """The right operand of a dtype for which its result is its left operand. A commutative op that
    has one folds many operands in any order."""
    evaluated_only: bool = False
    """True of what is never compiled nor transformed: it has no rule but its meaning."""

    widened: Widened = Widened.SAME
    """The relation of its results to those on 8-bit integers, where 2- and 4-bit integers were
    widened."""
    scalar_lowering: ScalarLowering | None = None
    """The lowering to operations on registers, for kernels of loops over few elements. IREE runs a
    loop that has an op without one as separate kernels."""

    linear_in: Sequence[int] | None = ()
    """The operands that its results are linear in, by number; None for all of them."""

    # -- building and reading --

    def __call__(self, *operands: Value) -> Value:
        """Builds the operation and returns its only result."""
        (result,) = self.build(operands)
        return result

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Builds the operation at the current insertion point; returns its results."""
        operation = mlir.emit(self.name, operands, _attributes(self), self.result_types(operands))
        return tuple(operation.results)

    def attributes(self) -> dict[str, Attribute]:
        """The MLIR attributes that hold the parameters: by default, each field through its codec,
        and no attribute where it is None.
        """
        encoded = {}
        for f in fields(self):  # pyright: ignore[reportArgumentType]
            codec, value = f.metadata.get("codec"), getattr(self, f.name)
            if isinstance(codec, AttributeCodec) and value is not None:
                encoded[codec.name or f.name] = codec.encode(value)
        return encoded

    def result_types(self, operands: Sequence[Value]) -> Sequence[Type] | None:
        """The result types, or None where the bindings infer them."""
        return None

    @classmethod
    def read(cls, operation: Operation) -> Op:
        """The op, with its parameters, that an operation in the IR is."""
        return cls(**{name: decode(operation) for name, decode in _decoders(cls)})

    @classmethod
    def flops(cls, operation: Operation) -> float:
        """The arithmetic on elements, comparisons included, that an operation takes whose op does
        other than one to each element of the result.
        """
        return 0

    # -- rules --

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        """The result (a sequence of them if `num_results` is not 1) for concrete operands."""
        raise UnsupportedOp(f"{self.name}: no evaluate rule")

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        """`evaluate` for operands of these types, to be called again and again: what follows from
        the types is found out here.
        """
        return partial(self.evaluate, no_calls)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """The results (`transform.results`, or others) and their tangents.

        At least one of `tangents` is not None.
        """
        raise UnsupportedOp(f"{self.name}: no jvp rule")

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """Return results and tangents as `jvp` does, by operations each of which is independent of
        the tangents or linear in them. Ops that hold or name functions override this.
        """
        return self.jvp(transform, primals, tangents)

    def is_linear_in(self, operands: Sequence[int]) -> bool:
        """True if its results are jointly linear in some operands, given by number. `transpose` is
        asked for no others.
        """
        return self.linear_in is None or all(i in self.linear_in for i in operands)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        """A cotangent for each operand that is `Linear`, None for the others.

        At least one of `cotangents` is not None.
        """
        raise UnsupportedOp(f"{self.name}: no transpose rule")

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        """The results for operands that carry a mapped axis at `axes`, and their axes.

        At least one of `axes` is not None.
        """
        raise UnsupportedOp(f"{self.name}: no batch rule")


def evaluated(op: Op, call: Evaluation, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """All results of an op for concrete operands, a sequence also where there is one."""
    results = op.evaluate(call, *operands)
    return (np.asarray(results),) if op.num_results == 1 else results


@lru_cache(maxsize=65536)
def _attributes(op: Op) -> dict[str, Attribute]:
    return op.attributes()


# ---- parameters ----------------------------------------------------------------------------------


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
    return from_result(lambda type_: tuple(type_.shape))


def result_dtype() -> Any:
    """The field is the result's NumPy dtype."""
    return from_result(mlir.dtype_of_type)


@cache
def _decoders(cls: type[Op]) -> tuple[tuple[str, Callable[[Operation], Any]], ...]:
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

    return tuple((f.name, decoder(f.name, f.metadata)) for f in fields(cls))  # pyright: ignore


def _i64s(values: Sequence[int]) -> Attribute:
    return mlir.parse_attribute("array<i64" + (": " if values else "") + _commas(values) + ">")


def _commas(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


I64S = AttributeCodec(_i64s, tuple)
"""A tuple of ints in `array<i64: ...>`."""
I64 = AttributeCodec(lambda v: mlir.parse_attribute(f"{v} : i64"), lambda a: a.value)
"""An int in `n : i64`."""
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


# ---- the registry --------------------------------------------------------------------------------

_READERS: dict[str, Callable[[Operation], Op]] = {}
_TRAITS: dict[str, Op | type[Op]] = {}
C = TypeVar("C", bound=type[Op])
AnyOp = TypeVar("AnyOp", bound=Op)


def register_class(cls: C) -> C:
    """Class decorator: operations of this name in the IR are read by this class."""
    _READERS[cls.name] = cls.read
    _TRAITS[cls.name] = cls
    return cls


def register(op: AnyOp) -> AnyOp:
    """Registers an op without parameters: operations of its name are read as this very object."""
    _READERS[op.name] = lambda operation: op
    _TRAITS[op.name] = op
    return op


def register_names(names: Iterable[str], cls: type[Op]) -> None:
    """Registers one class for operations of several names."""
    for name in names:
        _READERS[name] = cls.read
        _TRAITS[name] = cls


def unregister(name: str) -> None:
    """Forgets the ops of a name."""
    del _READERS[name], _TRAITS[name]


def registered_names() -> list[str]:
    """The names of all ops irax knows, sorted."""
    return sorted(_READERS)


def names_of(classes: tuple[type[Op], ...]) -> list[str]:
    """The names of the registered ops without parameters that are of some classes."""
    return [name for name, op in _TRAITS.items() if isinstance(op, classes)]


def traits_of(operation: Operation) -> Op | type[Op]:
    """The op that an operation is, or the class of it where it has parameters: both have the
    traits of its name. The base of all ops, of safe traits, for operations that irax does not know.
    """
    return traits_named(operation.name)


def traits_named(name: str) -> Op | type[Op]:
    """Return the op that has the traits of the operations of a name."""
    return _TRAITS.get(name, Op)


def folds_in_any_order(operation: Operation) -> bool:
    """True if an operation of two operands is associative and commutative with an identity, so that
    many operands can be combined in any order.
    """
    traits = traits_of(operation)
    return traits.commutative and traits.identity is not None


def computed(operation: Operation) -> int:
    """Return the number of operations in the computation of a reduction, a scatter or a map."""
    return len(operation.regions[0].blocks[0].operations) - 1


def is_generated(operation: Operation) -> bool:
    """True if a kernel computes an operation's result in place from no operands, as for constants
    and iotas.
    """
    return traits_of(operation).recomputation is Recomputation.FREE and not len(operation.operands)


def read(operation: Operation) -> Op:
    """The op that an operation in the IR is. Raises UnsupportedOp for one irax does not know."""
    try:
        reader = _READERS[operation.name]
    except KeyError:
        raise unknown(operation) from None
    return reader(operation)


_REASONS = {
    **dict.fromkeys(
        [
            *("all_gather", "all_reduce", "all_to_all", "collective_broadcast"),
            *("collective_permute", "collective_reduce", "partition_id", "reduce_scatter"),
            *("replica_id", "async_start", "async_done"),
        ],
        "the module is a program for several devices; export the function without it (in JAX: "
        "without shard_map)",
    ),
    **dict.fromkeys(
        [
            *("dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota"),
            *("dynamic_pad", "dynamic_reshape", "get_dimension_size", "real_dynamic_slice"),
            "set_dimension_size",
        ],
        "it is of dynamic shape; expected static shapes",
    ),
    **dict.fromkeys(
        ("infeed", "outfeed", "recv", "send"),
        "it exchanges arrays with the host while the program runs; expected arguments and results",
    ),
}


def unknown(operation: Operation) -> UnsupportedOp:
    """The error for an operation that irax does not know."""
    reason = _REASONS.get(operation.name.removeprefix("stablehlo."))
    why = f": {reason}" if reason else ""
    return UnsupportedOp(f"{operation.name} at {operation.location} is not supported{why}")


# ---- building blocks for rules -------------------------------------------------------------------


def only(values: Sequence[Tangent]) -> Value:
    """The one tangent or cotangent of an op that has one operand or result; it is there, because
    an op's rules are asked only when something is.
    """
    (value,) = values
    assert value is not None
    return value


def add_tangents(a: Tangent, b: Tangent) -> Tangent:
    """The sum of two tangents or cotangents, either of which may be a symbolic zero."""
    if a is None or b is None:
        return b if a is None else a
    return mlir.emit("stablehlo.add", [a, b]).results[0]


@cache
def working_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype that `evaluate` computes in before it rounds once at its end: float32 for
    narrower floats, int32 for 4-bit integers, which NumPy cannot compute with; otherwise the dtype
    itself.
    """
    if mlir.inexact(dtype):
        return np.dtype(np.float32) if dtype.itemsize < 4 else dtype
    return np.dtype(np.int32) if dtype.kind == "V" else dtype


def constant(array: np.ndarray) -> Value:
    """A constant with the contents of `array`."""
    return mlir.emit("stablehlo.constant", [], {"value": mlir.dense(array)}).results[0]


def full(shape: Sequence[int], fill: Any, dtype: np.dtype) -> Value:
    """A constant with every element `fill`."""
    attribute = _splat(tuple(shape), np.asarray(fill, dtype).tobytes(), np.dtype(dtype))
    return mlir.emit("stablehlo.constant", [], {"value": attribute}).results[0]


@lru_cache(maxsize=4096)
def _splat(shape: tuple[int, ...], fill: bytes, dtype: np.dtype) -> Attribute:
    scalar = np.frombuffer(fill, dtype).reshape(())
    if dtype.kind == "c":  # the bindings cannot parse what they can build
        return mlir.dense(np.full(shape, scalar))
    type_ = mlir.tensor_type(shape, dtype)
    text = mlir.attribute_text(mlir.dense(scalar)).split(" : ")[0]
    if 0 in shape:
        text = "dense<>"
    return mlir.parse_attribute(f"{text} : {type_}")


def full_like(value: Typed, fill: Any) -> Value:
    """A constant of the shape and dtype of `value` with every element `fill`."""
    return full(shape_of(value), fill, dtype_of(value))


def zeros_like(value: Typed) -> Value:
    """A constant zero of the shape and dtype of `value`."""
    return full_like(value, 0)
