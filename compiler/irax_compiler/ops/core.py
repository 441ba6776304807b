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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import long_runs
from irax_compiler.ops.attributes import I64, I64S, decoders, encoded
from irax_compiler.ops.links import Links, Use, by_dimensions, elementwise, moved
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, pointwise
from irax_compiler.ops.transformation import (
    Axis,
    Batching,
    Differentiation,
    Evaluation,
    Linearization,
    Transposition,
)
from irax_compiler.sizes import Size

Tangent = Value | None


class UnsupportedOp(NotImplementedError):
    """An operation, or a form of one, that irax has no rule for."""


class UnboundAxis(UnsupportedOp):
    """A collective that was asked for a result without the vmap that names its axis."""


class UnknownSize(UnsupportedOp):
    """The value of a symbolic dimension was asked for in a function that is for all its values."""


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
    LOW_BITS_OF_SIGNED = "LOW_BITS, if the first operand is taken as signed"
    OTHER = "something else"


class Bits(Enum):
    """The fate of the bits of floats that an op's integer operands hold (`float_bits.py`)."""

    LOST = "something that no derivative follows from"
    READ = "they are read as another type"
    MOVED = "the results hold those of the operands in which the op is linear"
    CONVERTED = "the result holds them, if it is as wide an integer"
    MASKED = "the result has those where the other operand has ones"
    JOINED = "the result has them where the other operand has zeros at and below their places"
    SHIFTED_RIGHT = "the lowest are dropped"
    SHIFTED_LEFT = "zeros are below them"


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


@dataclass(frozen=True)
class ComplexLowering:
    """An elementwise op on complex numbers, or with such a result, in a kernel."""

    build: Callable[..., Any]
    """Builds the result from operands: registers, and `complex_registers.Parts` of complex ones."""


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
    superlinear: bool = False
    """True if it takes more operations than in proportion to the elements of its arrays, and calls
    no function."""
    reduces: bool = False
    """True if it combines many elements of its operands to each element of its results."""
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
    selects: bool = False
    """True if each element of its result is that of the second operand where the first one is true,
    and that of the third elsewhere: `transpose` knows how to transpose that."""
    commutative: bool = False
    """True if its two operands may be exchanged."""
    is_product: bool = False
    """True if it is linear in each of its operands, but not in both together."""
    zero_with_first: bool = False
    """True if its result is zero where its first operand is."""
    masked_with: Sequence[int] = ()
    """The operands, by number, with which its result is -inf, or nan, whatever the others are."""
    links_by_zeros: bool = False
    """True if its links follow from where its operands are zero, whatever they are elsewhere."""
    identity: Callable[[np.dtype], Any] | None = None
    """The right operand of a dtype for which its result is its left operand. A commutative op that
    has one folds many operands in any order."""
    evaluated_only: bool = False
    """True if it is only evaluated, never compiled or transformed: it has no rule except
    `evaluate`."""

    float_bits: Bits = Bits.LOST
    """The fate of the bits of floats in its integer operands; those of one that only `moves`
    elements are moved."""
    widened: Widened = Widened.SAME
    """The relation of its results to those on 8-bit integers, where 2- and 4-bit integers were
    widened."""
    scalar_lowering: ScalarLowering | None = None
    """The lowering to operations on registers, for kernels of loops over few elements. IREE runs a
    loop that has an op without one as separate kernels."""

    complex_lowering: ComplexLowering | None = None
    """The lowering on complex numbers, for kernels of elementwise operations on arrays."""

    joins_operands: bool = True
    """True if its results depend on all operands together: in a function that devices run on their
    shards, these vary along the same axes then (`varying.py`)."""
    needs_whole: bool = False
    """True if, along explicit axes of a mesh, operands must not be divided in dimensions that have
    no factor in its sharding rule. Those of another op become whole."""
    linear_in: Sequence[int] | None = ()
    """The operands that its results are linear in, by number; None for all of them."""

    # -- building and reading --

    def __call__(self, *operands: Value) -> Value:
        """Builds the operation and returns its only result."""
        (result,) = self.build(operands)
        return result

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Builds the operation at the current insertion point; returns its results."""
        types = self.result_types(operands)
        name, attributes = form(self)
        if types is None and (name != self.name or any(mlir.is_sized(x.type) for x in operands)):
            types = self.sized_types(operands)
        return tuple(mlir.emit(name, operands, attributes, types).results)

    def attributes(self) -> dict[str, Attribute]:
        """The MLIR attributes that hold the parameters: by default, each field through its codec,
        and no attribute where it is None.
        """
        return encoded(self)

    def result_types(self, operands: Sequence[Value]) -> Sequence[Type] | None:
        """The result types, or None where the bindings infer them."""
        return None

    def sized_types(self, operands: Sequence[Value]) -> Sequence[Type] | None:
        """The result types for operands with symbolic sizes, which the bindings do not know."""
        if self.elementwise:  # the bindings take the operands' type
            return None
        raise UnsupportedOp(f"{self.name}: no rule for operands with symbolic dimensions")

    @classmethod
    def read(cls, operation: Operation) -> Op:
        """The op, with its parameters, that an operation in the IR is."""
        return cls(**{name: decode(operation) for name, decode in decoders(cls)})

    @classmethod
    def flops(cls, operation: Operation) -> float:
        """The arithmetic on elements, comparisons and the like included, that an operation takes
        whose op does other than one to each element of the result.
        """
        return 0

    # -- rules --

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        """The result (a sequence of them if `num_results` is not 1) for concrete operands."""
        raise UnsupportedOp(f"{self.name}: no evaluate rule")

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        """Return a function equal to `evaluate` for operands of these types, which is called often;
        it does beforehand what depends on the types alone.
        """
        return partial(self.evaluate, no_calls)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """The results (`transform.results`, or others) and their tangents.

        At least one of `tangents` is not None.
        """
        raise UnsupportedOp(f"{self.name}: no jvp rule")

    def is_flat(self, operands: Sequence[Value]) -> bool:
        """True if its derivatives are zero wherever it has any, as those of a step function."""
        return False

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
        """Return a cotangent for each operand that is `Linear`, and None for the others.

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

    def sharding_rule(
        self, operands: Sequence[Shape], results: Sequence[Shape]
    ) -> ShardingRule | None:
        """Return the dimensions that may be divided between devices; None if the op needs whole
        arrays.
        """
        return pointwise(operands, results) if self.elementwise else None

    def links(self, use: Use) -> Links:
        """Return the elements of an operand that each element of a result is computed from, where
        the op is linear in it.
        """
        if self.elementwise:
            return elementwise(use, self.is_product)
        if self.moves:
            return self.moved_links(use)
        return by_dimensions(self.sharding_rule(use.operands, use.results), use)

    def chosen(self, use: Use, marks: Sequence[np.ndarray | None]) -> np.ndarray | None:
        """Return True at the elements of the result that are marked ones of operands, given those
        of each; None unless it is known that each is an element of an operand.
        """
        return None

    @property
    def index_dim(self) -> int | None:
        """The dimension of its indices whose elements tell one place together, while others tell
        other places; None if all do together.
        """
        return None

    def zeros(self, use: Use, zeros: Sequence[np.ndarray | None]) -> np.ndarray | None:
        """Return True at the elements of a result that are zero whatever the operands are, given
        those of the operands; None if none are known.
        """
        return None

    def moved_links(self, use: Use) -> Links:
        """Return the links of an operand whose elements are moved to places that the parameters and
        known operands tell.
        """
        return moved(partial(self.evaluate, no_calls), use)

    def on_shards(self, operands: Sequence[Shape], results: Sequence[Shape]) -> Op:
        """Return the op that gives shards of these shapes: by default, with the field `shape`
        changed, if there is one.
        """
        return replace(self, shape=results[0]) if hasattr(self, "shape") else self  # pyright: ignore


def evaluated(op: Op, call: Evaluation, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """All results of an op for concrete operands, a sequence also where there is one."""
    results = long_runs.evaluate(op, call, operands)
    return (np.asarray(results),) if op.num_results == 1 else results


@lru_cache(maxsize=65536)
def form(op: Op) -> tuple[str, dict[str, Attribute]]:
    """The name and the attributes of the operation that an op is. StableHLO's operations have
    parameters that are known; with symbolic ones they are operations of the dialect `irax`.
    """
    return (sized_name(op.name) if _has_sizes(op) else op.name), op.attributes()


def sized_name(name: str) -> str:
    """The name of a StableHLO operation that has symbolic parameters: `irax.slice`."""
    return "irax." + name.partition(".")[2]


def plain_name(name: str) -> str:
    """The name of a StableHLO operation, for that of one with symbolic parameters."""
    return "stablehlo." + name.removeprefix("irax.") if name.startswith("irax.") else name


def _has_sizes(parameter: Any) -> bool:
    if isinstance(parameter, tuple):
        return any(map(_has_sizes, parameter))
    if is_dataclass(parameter):
        return any(_has_sizes(getattr(parameter, f.name)) for f in fields(parameter))
    return isinstance(parameter, Size)


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


def dtype_of_places(*extents: Any) -> np.dtype:
    """Return the dtype of places along dimensions: int32, or int64 where it cannot count them."""
    most = np.iinfo(np.int32).max
    is_long = any(not isinstance(n, Size) and n > most for n in extents)
    return np.dtype(np.int64 if is_long else np.int32)


def constant(array: np.ndarray) -> Value:
    """A constant with the contents of `array`."""
    return mlir.emit("stablehlo.constant", [], {"value": mlir.dense(array)}).results[0]


def full(shape: Sequence[int], fill: Any, dtype: np.dtype) -> Value:
    """A constant with every element `fill`."""
    if isinstance(fill, Size):
        scalar = _dimension(fill, np.dtype(dtype))
        return scalar if not shape else _stretched(scalar, tuple(shape))
    if any(isinstance(n, Size) for n in shape):
        return _stretched(full((), fill, dtype), tuple(shape))
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


def _dimension(size: Size, dtype: np.dtype) -> Value:
    """A scalar that is the value of a symbolic size: `ops.dimension.Dimension`."""
    types = [mlir.tensor_type((), dtype)]
    return mlir.emit("irax.dimension", [], {"size": I64.encode(size)}, types).results[0]


def _stretched(scalar: Value, shape: tuple[int, ...]) -> Value:
    """A scalar broadcast to a shape that may have symbolic sizes: no constant can have it."""
    types = [mlir.tensor_type(shape, dtype_of(scalar))]
    attributes = {"broadcast_dimensions": I64S.encode(())}
    is_known = not any(isinstance(n, Size) for n in shape)
    name = "stablehlo.broadcast_in_dim" if is_known else sized_name("stablehlo.broadcast_in_dim")
    return mlir.emit(name, [scalar], attributes, types).results[0]


def full_like(value: Typed, fill: Any) -> Value:
    """A constant of the shape and dtype of `value` with every element `fill`."""
    return full(shape_of(value), fill, dtype_of(value))


def zeros_like(value: Typed) -> Value:
    """A constant zero of the shape and dtype of `value`."""
    return full_like(value, 0)
