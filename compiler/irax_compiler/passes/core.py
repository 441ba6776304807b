"""The base class of passes, and of passes that derive functions from functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.derived import Derived
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.structured import DefinedOp


class PassError(ValueError):
    """A pass cannot do what it was asked: wrong options, or a module it does not apply to."""


@dataclass
class Pass:
    """A rewrite of a module. The fields are the pass's options on the command line."""

    name: ClassVar[str]

    def run(self, module: Module) -> None:
        """Rewrites the module in place, and leaves one that verifies."""
        raise NotImplementedError

    def __str__(self) -> str:
        """The pass as pipelines have it, with the options that are not the default's."""
        given = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        options = [f"{name}={_text(value)}" for name, value, default in given if value != default]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass
class NativePass(Pass):
    """One of MLIR's own passes, with its options as MLIR spells them."""

    text: str

    def run(self, module: Module) -> None:
        try:
            manager = mlir.passmanager.PassManager.parse(
                f"builtin.module({self.text})", mlir.CONTEXT
            )
        except (mlir.MLIRError, ValueError):
            raise PassError(
                f"unknown pass {self.text!r}: neither one of irax ({', '.join(sorted(PASSES))}) "
                "nor one of MLIR, with options that it takes"
            ) from None
        manager.run(module.operation)

    def __str__(self) -> str:
        return self.text


PASSES: dict[str, type[Pass]] = {}
"""The passes of irax by name."""

P = TypeVar("P", bound=type[Pass])


def register_pass(cls: P) -> P:
    """Class decorator: the pass can be named in a pipeline."""
    PASSES[cls.name] = cls
    return cls


def find_function(module: Module, name: str) -> Operation:
    """The function `name` of a module. Raises PassError with the names there are, and UnsupportedOp
    for a function that irax cannot work on.
    """
    found = mlir.Functions(module)
    if name not in found:
        there = ", ".join(f"@{n}" for n in found) or "none"
        raise PassError(f"func={name}: the module has no function @{name}; it has {there}")
    check_function(name, found[name])
    return found[name]


def publish(module: Module, *names: str) -> None:
    """Makes functions public: those that the user asked for by name."""
    for name in names:
        mlir.make_public(find_function(module, name))


def check_function(name: str, function: Operation) -> None:
    """Raises UnsupportedOp for a function without a body, of several blocks, or of arguments or
    results that are not arrays of static shape and a dtype that irax knows.
    """
    blocks = len(function.regions[0].blocks)
    if blocks != 1:
        problem = "has no body" if blocks == 0 else "has several blocks, branches between which"
        raise UnsupportedOp(f"@{name} at {function.location} {problem}: not supported")
    boundary = [a.type for a in mlir.arguments(function)] + mlir.result_types(function)
    for type_ in boundary:
        problem = mlir.type_problem(type_)
        if problem is not None:
            raise UnsupportedOp(f"@{name} at {function.location}: {problem}")


def recursion(name: str, function: Operation) -> UnsupportedOp:
    """The error for a function that calls itself, or functions that do."""
    return UnsupportedOp(
        f"@{name} at {function.location} calls itself, or a function that does: recursion is not "
        "supported; expected stablehlo.while"
    )


D = TypeVar("D", bound=Derived)


class Deriver(Generic[D]):
    """Derives new functions of a module from its functions, each once per pattern.

    Subclasses say how (`derive`). Functions that a function calls are derived on the way, so cost
    and size are linear in what the module holds, not in what it executes.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.functions = mlir.functions(module)
        self._derived: dict[tuple[str, Any], D] = {}
        self._dependent: dict[tuple[str, tuple[bool, ...]], tuple[bool, ...]] = {}
        self._definitions: dict[tuple[DefinedOp, Any], str] = {}
        self._outlined: dict[Operation, Sequence[str]] = {}
        self._reserved: dict[Any, Sequence[str]] = {}

    def function(self, name: str, pattern: tuple[Any, ...]) -> D:
        """The derived form of function `name` for a pattern of arguments; made when first asked."""
        key = (name, pattern)
        if key not in self._derived:
            source = self.functions[name]
            check_function(name, source)
            try:
                self._derived[key] = self.derive(source, pattern)
            except RecursionError:
                raise recursion(name, source) from None
        return self._derived[key]

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> D:
        """The derived form of a function; called once for each pattern."""
        raise NotImplementedError

    def definition(self, op: DefinedOp, types: tuple[Any, ...]) -> str:
        """The name of a function that is what `op` means for operands of some types."""
        key = (op, types)
        if key not in self._definitions:
            name = op.name.partition(".")[2]
            self._definitions[key] = self.build_function(
                name, types, lambda *operands: op.define(operands)
            )
        return self._definitions[key]

    def dependent_results(self, name: str, flags: Sequence[bool]) -> tuple[bool, ...]:
        """Which results of function `name` depend on one of the arguments that `flags` marks."""
        key = (name, tuple(flags))
        if key not in self._dependent:
            function = self.functions[name]
            check_function(name, function)
            block = mlir.body(function)
            found: set[Value] = set()
            found.update(a for a, flag in zip(block.arguments, flags, strict=True) if flag)
            for operation in walk(block):
                given = [v in found for v in inputs(operation)]
                if operation.name == "func.call" and any(given):
                    depend = self.dependent_results(mlir.callee(operation), given)
                    found.update(v for v, d in zip(operation.results, depend, strict=True) if d)
                elif any(given):
                    found.update(operation.results)
            self._dependent[key] = tuple(v in found for v in returned(function))
        return self._dependent[key]

    def outline(self, operation: Operation) -> Sequence[str]:
        """The names of functions that are an operation's regions: of all that the operation
        captures, then the arguments of the region.
        """
        if operation not in self._outlined:
            captured = mlir.captured(operation)
            kind = operation.name.partition(".")[2]
            parts = {"while": ("cond", "body"), "if": ("true", "false")}.get(kind)
            names = parts or [str(i) for i in range(len(operation.regions))]
            self._outlined[operation] = [
                self._outline_region(f"{kind}.{name}", captured, region.blocks[0], operation)
                for name, region in zip(names, operation.regions, strict=True)
            ]
        return self._outlined[operation]

    def _outline_region(
        self, name: str, captured: Sequence[Value], block: Block, operation: Operation
    ) -> str:
        own = list(block.arguments)
        types = [v.type for v in [*captured, *own]]
        function = self.new_function(name, types, operation.location)
        env = dict(zip([*captured, *own], mlir.arguments(function), strict=True))
        with mlir.InsertionPoint(mlir.body(function)):
            for inner in walk(block):
                env.update(zip(inner.results, mlir.clone(inner, env), strict=True))
        mlir.finish_function(function, [env[v] for v in mlir.terminator(block).operands])
        return mlir.function_name(function)

    def build_function(
        self, name: str, types: Sequence[Any], build: Callable[..., Sequence[Value]]
    ) -> str:
        """The name of a new private function, which `build` fills: arguments to results."""
        function = self.new_function(name, types, mlir.current_location())
        with mlir.InsertionPoint(mlir.body(function)):
            results = build(*mlir.arguments(function))
        mlir.finish_function(function, results)
        return mlir.function_name(function)

    def declare_function(self, name: str, inputs: Sequence[Any], results: Sequence[Any]) -> str:
        """The name of a new private function without a body."""
        unique = self._unique(name)
        self.functions[unique] = mlir.declare_function(self.module, unique, inputs, results)
        return unique

    def reserve(self, key: Any, names: Sequence[str]) -> tuple[Sequence[str], bool]:
        """Names for functions to come, the same for the same key; and whether they are new."""
        is_new = key not in self._reserved
        if is_new:
            taken = [n for others in self._reserved.values() for n in others]
            self._reserved[key] = [
                self._unique(f"{name}_{len(taken)}" if name in taken else name) for name in names
            ]
        return self._reserved[key], is_new

    def new_function(self, name: str, inputs: Sequence[Any], location: Any) -> Operation:
        """An empty private function with a name not taken yet."""
        unique = self._unique(name)
        function = mlir.new_function(self.module, unique, inputs, location)
        self.functions[unique] = function
        return function

    def _unique(self, name: str) -> str:
        """The name, if it is free, or was reserved for a function that is still to come."""
        taken = {n for names in self._reserved.values() for n in names}
        if name in taken and name not in self.functions:
            return name
        unique, count = name, 0
        while unique in self.functions or unique in taken:
            count += 1
            unique = f"{name}_{count}"
        return unique


def walk(block: Block) -> Iterator[Operation]:
    """The operations of a block but its terminator, in order."""
    operations = [o.operation for o in block.operations]
    yield from operations[:-1]


def inputs(operation: Operation) -> list[Value]:
    """The values that an operation reads."""
    operands = list(operation.operands)
    return [*operands, *mlir.captured(operation)] if traits_of(operation).captures else operands


def nested(operation: Operation) -> Iterator[Operation]:
    """The operations inside an operation, in order, each after those inside it: one that is
    replaced takes what is inside it along.
    """
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                if len(inner.regions):
                    yield from nested(inner)
                yield inner


def returned(function: Operation) -> list[Value]:
    """The values a function returns."""
    return list(mlir.terminator(mlir.body(function)).operands)


def rule(operation: Operation, kind: str) -> Op:
    """The op behind an operation. Errors name the operation, its location and the rule."""
    try:
        return read(operation)
    except UnsupportedOp as error:
        raise UnsupportedOp(f"{kind}: {error}") from None


@contextmanager
def asking(operation: Operation) -> Iterator[None]:
    """While the rule of an operation is asked: errors name the operation and its location."""
    try:
        yield
    except UnsupportedOp as error:
        raise in_context(error, operation) from None
    except Exception as error:
        error.add_note(f"raised by a rule of {operation.name} at {operation.location}")
        raise


def in_context(error: UnsupportedOp, operation: Operation) -> UnsupportedOp:
    """The error, with the location of the operation it arose at."""
    text = str(error)
    return error if "at loc(" in text else type(error)(f"{text} (at {operation.location})")
