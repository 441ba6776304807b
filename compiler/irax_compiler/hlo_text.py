"""Modules as text in the form of XLA's HLO, for people and programs that compare it.

    HloModule f

    ENTRY f.3 {
      Arg_0.1 = f32[2] parameter(0)
      ROOT multiply.2 = f32[2] multiply(Arg_0.1, Arg_0.1)
    }

A computation is written before those that call it. Attributes are as MLIR has them, so XLA's parser
does not read all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Type, Value

_TYPES = {
    "bool": "pred",
    "uint": "u",
    "int": "s",
    "bfloat": "bf",
    "float": "f",
    "complex": "c",
}
"""The beginnings of names of dtypes, and what HLO has for them."""


def hlo_text(module: Module, func: str) -> str:
    """Return a module as text, of which one function is the entry.

    >>> text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {"
    >>> text += "%0 = stablehlo.sine %x : tensor<2xf32> return %0 : tensor<2xf32> }"
    >>> print(hlo_text(mlir.parse_module(text), "f"))
    HloModule f
    <BLANKLINE>
    ENTRY f.3 {
      Arg_0.1 = f32[2] parameter(0)
      ROOT sine.2 = f32[2] sine(Arg_0.1)
    }
    """
    writer = _Writer(mlir.functions(module))
    writer.function(func, "ENTRY ")
    return "\n\n".join([f"HloModule {func}", *writer.computations])


class _Writer:
    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self.functions = functions
        self.computations: list[str] = []
        self.known: dict[str, str] = {}
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def function(self, name: str, prefix: str = "") -> str:
        """Write a function, and those that it calls before it; return its name."""
        if name not in self.known:
            self.known[name] = self.computation(mlir.body(self.functions[name]), name, prefix)
        return self.known[name]

    def computation(self, block: Block, name: str, prefix: str = "") -> str:
        names: dict[Value, str] = {}
        lines: list[str] = []
        for i, argument in enumerate(block.arguments):
            names[argument] = f"Arg_{i}.{self.number()}"
            lines.append(f"{names[argument]} = {_type(argument.type)} parameter({i})")
        *body, last = [view.operation for view in block.operations]
        for operation in body:
            lines += self.instruction(operation, names)
        results = [names.get(value, "captured") for value in last.operands]
        if len(results) == 1 and body and results[0] == names.get(body[-1].results[0]):
            lines[-1] = f"ROOT {lines[-1]}"
        else:
            types = _tuple([value.type for value in last.operands])
            lines.append(f"ROOT tuple.{self.number()} = {types} tuple({', '.join(results)})")
        unique = f"{name}.{self.number()}"
        text = "".join(f"\n  {line}" for line in lines)
        self.computations.append(f"{prefix}{unique} {{{text}\n}}")
        return unique

    def instruction(self, operation: Operation, names: dict[Value, str]) -> Iterator[str]:
        opcode = operation.name.rpartition(".")[2].replace("_", "-")
        called = list(self.called(operation, opcode))
        unique = f"{opcode}.{self.number()}"
        operands = ", ".join(names.get(value, "captured") for value in operation.operands)
        if opcode == "constant":
            operands = mlir.attribute_text(operation.attributes["value"])
        types = [value.type for value in operation.results]
        attributes = "".join(f", {part}" for part in [*_attributes(operation), *called])
        yield f"{unique} = {_tuple(types)} {opcode}({operands}){attributes}"
        for i, value in enumerate(operation.results):
            names[value] = unique
            if len(types) > 1:
                names[value] = f"get-tuple-element.{self.number()}"
                yield f"{names[value]} = {_type(types[i])} get-tuple-element({unique}), index={i}"

    def called(self, operation: Operation, opcode: str) -> Iterator[str]:
        """The computations that an operation calls or holds."""
        if operation.name == "func.call":
            yield f"to_apply={self.function(mlir.callee(operation))}"
        blocks = [region.blocks[0] for region in operation.regions if region.blocks]
        names = [self.computation(block, f"{opcode}_region") for block in blocks]
        if len(names) == 1:
            yield f"to_apply={names[0]}"
        elif names:
            yield f"called_computations={{{', '.join(names)}}}"


def _attributes(operation: Operation) -> Iterator[str]:
    for name, attribute in mlir.attributes_of(operation).items():
        if name not in ("value", "callee"):
            yield f"{name}={mlir.attribute_text(attribute)}"


def _tuple(types: Sequence[Type]) -> str:
    texts = list(map(_type, types))
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _type(kind: Any) -> str:
    if mlir.type_problem(kind):
        return str(kind)
    shape = ",".join(map(str, kind.shape))
    return f"{_element(mlir.dtype_of_type(kind).name)}[{shape}]"


def _element(dtype: str) -> str:
    for name, short in _TYPES.items():
        if dtype.startswith(name):
            return (short + dtype.removeprefix(name)).replace("_", "")
    return dtype
