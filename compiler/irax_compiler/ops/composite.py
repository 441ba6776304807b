"""Composites: operations with a decomposition, by which any tool can run them.

class Lu(ComposedOp):      an op of irax's own, with rules; in the IR it is a
    name = "irax.lu"       `stablehlo.composite "irax.lu"`, whose decomposition is `define`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from irax_compiler import extensions, mlir
from irax_compiler.mlir import Attribute, Operation, Type, Value
from irax_compiler.ops.attributes import AttributeCodec
from irax_compiler.ops.core import Op
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.structured import Call


@register_class
@dataclass(frozen=True)
class Composite(Call):
    """A composite that irax has no rules for: a call of its decomposition."""

    name = "stablehlo.composite"
    own_attributes: tuple[tuple[str, Attribute], ...] = ()
    """All attributes but the decomposition."""

    def attributes(self) -> dict[str, Attribute]:
        return {**dict(self.own_attributes), "decomposition": mlir.symbol(self.callee)}

    @classmethod
    def read(cls, operation: Operation) -> Op:
        kind: Any = operation.attributes["name"]
        if kind.value not in COMPOSED:
            extensions.load("irax.ops")
        if kind.value in COMPOSED:
            return COMPOSED[kind.value].read(operation)
        types = tuple(r.type for r in operation.results)
        own = {name: operation.attributes[name] for name in operation.attributes}
        del own["decomposition"]
        return cls(decomposition_of(operation), types, tuple(own.items()))


class ComposedOp(Op):
    """An op with rules of its own that is a composite in the IR. Its fields are the composite's
    attributes; `define` builds the decomposition, for tools and targets without another
    implementation.
    """

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """Builds the decomposition."""
        raise NotImplementedError

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        decomposition = self._decomposition(tuple(x.type for x in operands))
        attributes = {
            "name": mlir.string(self.name),
            "composite_attributes": mlir.dictionary(self.attributes()),
            "decomposition": mlir.symbol(mlir.function_name(decomposition)),
        }
        types = mlir.result_types(decomposition)
        return tuple(mlir.emit("stablehlo.composite", operands, attributes, types).results)

    def decomposition_name(self, types: tuple[Type, ...]) -> str:
        """Return the name of the decomposition, which differs between parameters and types of
        operands.
        """
        settings = [f"{f.name}_{getattr(self, f.name)}" for f in fields(self)]  # pyright: ignore
        shapes = [str(t).removeprefix("tensor<").removesuffix(">") for t in types]
        return ".".join([self.name, *settings, *shapes]).replace("complex<", "c").replace(">", "")

    def _decomposition(self, types: tuple[Type, ...]) -> Operation:
        """The function of the open module that this is made of; made when first needed."""
        module = mlir.open_module()
        name = base = self.decomposition_name(types)
        there, count = mlir.Functions(module), 0
        while name in there:
            if self._is_made_of(there[name]):
                return there[name]
            count += 1
            name = f"{base}_{count}"
        function = mlir.new_function(module, name, types, mlir.current_location())
        with mlir.InsertionPoint(mlir.body(function)):
            results = self.define(mlir.arguments(function))
        mlir.finish_function(function, results)
        return function

    def _is_made_of(self, function: Operation) -> bool:
        """True if a function of the right name is this op's decomposition: where the op names
        functions, it must call them. A function from another module, whose names were changed, may
        not.
        """
        named = {
            getattr(self, f.name)
            for f in fields(self)  # pyright: ignore[reportArgumentType]
            if getattr(f.metadata.get("codec"), "encode", None) is mlir.symbol
        }
        return named <= {n for r in mlir.references(function) for n in mlir.named_functions(r)}

    @classmethod
    def read(cls, operation: Operation) -> Op:
        there = operation.attributes
        given: Any = there.get("composite_attributes", {})
        values = {}
        for f in fields(cls):  # pyright: ignore[reportArgumentType]
            if "operation" in f.metadata:
                values[f.name] = f.metadata["operation"](operation)
                continue
            codec: AttributeCodec = f.metadata["codec"]
            key = codec.name or f.name
            values[f.name] = codec.decode(given[key]) if key in given else codec.default
        return cls(**values)


def decomposition_of(operation: Operation) -> str:
    """The name of the function that a composite is made of."""
    decomposition: Any = operation.attributes["decomposition"]
    return decomposition.value


COMPOSED: dict[str, type[ComposedOp]] = {}
"""The ops that the IR holds as composites, by the composite's name."""

C = TypeVar("C", bound=type[ComposedOp])


def register_composed(cls: C) -> C:
    """Class decorator: composites of this name in the IR are read by this class."""
    COMPOSED[cls.name] = cls
    return cls
