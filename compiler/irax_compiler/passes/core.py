"""The base class of passes, and of passes that derive functions from functions."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cmp_to_key
from typing import Any, ClassVar, Generic, TypeVar

from irax_compiler import locations, mlir
from irax_compiler.mlir import Block, Module, Operation, Value
from irax_compiler.ops.control_flow.deferred_rules import is_users
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.derived import Derived
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.structured import DefinedOp


def _counts(captured: Sequence[Value], block: Block) -> list[tuple[Value, Operation]]:
    """The scalars that a block with loops captures and no operands make: its loops may count by
    them.
    """
    inside = [o for view in block for o in mlir.operations_in(view.operation)]
    if not any(o.name == "stablehlo.while" for o in inside):
        return []
    made = [(x, mlir.definition(x)) for x in captured if not mlir.is_inexact(x)]
    return [(x, o) for x, o in made if o is not None and not o.operands and mlir.shape_of(x) == ()]


class PassError(ValueError):
    """A pass cannot be applied: its options are wrong, or it does not support the module."""


@dataclass
class Pass:
    """A rewrite of a module. The fields are the pass's options on the command line."""

    name: ClassVar[str]

    def run(self, module: Module) -> bool | None:
        """Rewrites the module in place, and leaves one that verifies. Returns False if it left the
        module as it was, where that is known: then nobody verifies it once more.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the pass as text of a pipeline, with the options that differ from the default."""
        given = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        options = [f"{name}={_text(value)}" for name, value, default in given if value != default]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


_OF_MLIR = ("cse", "inline", "sccp", "symbol-dce")
"""Passes of MLIR's that a misspelled name may mean."""


@functools.cache
def _manager(text: str) -> mlir.passmanager.PassManager:
    """Return the pass manager of a pipeline of MLIR's, one for all runs: it collects patterns when
    it first runs, which for a small module takes longer than the passes.
    """
    return mlir.passmanager.PassManager.parse(f"builtin.module({text})", mlir.CONTEXT)


@dataclass
class NativePass(Pass):
    """A pass of MLIR's, with its options in MLIR's syntax."""

    text: str

    def manager(self) -> mlir.passmanager.PassManager:
        """Return what runs it. Raises PassError for a pass or an option that MLIR does not know."""
        try:
            return _manager(self.text)
        except (mlir.MLIRError, ValueError):
            name = self.text.partition("{")[0]
            near = difflib.get_close_matches(name, [*PASSES, *_OF_MLIR], n=1)
            meant = f"did you mean {near[0]!r}? It is " if near and near[0] != name else ""
            raise PassError(
                f"unknown pass {self.text!r}: {meant}neither one of irax, which `irax opt "
                "--list-passes` lists, nor one of MLIR, with options that it takes"
            ) from None

    def run(self, module: Module) -> None:
        self.manager().run(module.operation)

    def __str__(self) -> str:
        return self.text


CSE = NativePass("cse")


class Inline(NativePass):
    """MLIR's pass inline. It canonicalizes functions, too, and collects patterns for that in each
    run; so modules without calls are canonicalized by a kept pass manager.
    """

    def run(self, module: Module) -> None:
        if any(o.name == "func.call" for o in outside_kernels(module)):
            super().run(module)
        else:
            _CANONICALIZE.run(module)


INLINE = Inline("inline")
_CANONICALIZE = NativePass("func.func(canonicalize)")


class RemoveDeadFunctions(NativePass):
    """MLIR's own, or where the module has operations that it does not know, the same in Python."""

    def run(self, module: Module) -> None:
        try:
            super().run(module)
        except mlir.MLIRError:
            functions = mlir.functions(module)
            alive = [name for name, f in functions.items() if mlir.is_public(f)]
            for name in alive:
                for reference in mlir.references(functions[name]):
                    alive += [n for n in mlir.named_functions(reference) if n not in alive]
            for name in functions.keys() - alive:
                functions[name].erase()


REMOVE_DEAD_FUNCTIONS = RemoveDeadFunctions("symbol-dce")

PASSES: dict[str, type[Pass]] = {}
"""The passes of irax by name."""

P = TypeVar("P", bound=type[Pass])


def register_pass(cls: P) -> P:
    """Class decorator: the pass can be named in a pipeline."""
    PASSES[cls.name] = cls
    return cls


def find_function(module: Module, name: str) -> Operation:
    """Return the function `name` of a module. Raises PassError, with the names of all functions, if
    there is none, and UnsupportedOp for a function that irax does not support.
    """
    function = function_named(module, name)
    check_function(name, function)
    return function


def function_named(module: Module, name: str) -> Operation:
    """Return the function `name` of a module, whatever its types are. Raises PassError, with the
    names of all functions, if there is none.
    """
    found = mlir.Functions(module)
    if name not in found:
        there = ", ".join(f"@{n}" for n in found) or "none"
        raise PassError(f"func={name}: the module has no function @{name}; it has {there}")
    return found[name]


def alone(module: Module, func: str, is_foreign: bool) -> Module:
    """Return a copy of a module in which `func` is the only public function. Of a foreign module
    only the functions are copied; uses of other dialects' symbols are refused by name.
    """
    find_function(module, func)
    copy = mlir.new_module()
    for view in module.body.operations:
        if not is_foreign or view.operation.name == "func.func":
            view.operation.clone(ip=mlir.InsertionPoint(copy.body))
    for name, function in mlir.functions(copy).items():
        function.attributes["sym_visibility"] = mlir.string("public" if name == func else "private")
    return copy


def publish(module: Module, *names: str) -> None:
    """Make functions public, because the user asked for them by name."""
    for name in names:
        mlir.make_public(find_function(module, name))


def check_function(name: str, function: Operation) -> None:
    """Raise UnsupportedOp for a function without a body, of several blocks, or with arguments or
    results that are not arrays of static shape and known dtype.
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
    """Return the error for recursive functions."""
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
        self._definitions: dict[tuple[DefinedOp, Any], str] = {}
        self._outlined: dict[Operation, Sequence[str]] = {}
        self._reserved: dict[Any, Sequence[str]] = {}

    def function(self, name: str, pattern: tuple[Any, ...]) -> D:
        """Return the derived form of function `name` for a pattern of arguments, derived at the
        first call.
        """
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
        """Derive a function; called once for each pattern."""
        raise NotImplementedError

    def definition(self, op: DefinedOp, types: tuple[Any, ...]) -> str:
        """Return the name of a function that defines `op` for operands of the given types."""
        key = (op, types)
        if key not in self._definitions:
            name = op.name.partition(".")[2]
            self._definitions[key] = self.build_function(
                name, types, lambda *operands: op.define(operands)
            )
        return self._definitions[key]

    def outline(self, operation: Operation) -> Sequence[str]:
        """Outline an operation's regions, and return the names of the functions. Each takes all
        values that the operation captures, then the region's arguments.
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
        arguments = dict(env)
        with mlir.InsertionPoint(mlir.body(function)):
            for value, source in _counts(captured, block):
                (env[value],) = mlir.clone(source, {})
            mlir.clone_all(walk(block), env)
        results = [arguments.get(v, env[v]) for v in mlir.terminator(block).operands]
        mlir.finish_function(function, results)
        return mlir.function_name(function)

    def build_function(
        self, name: str, types: Sequence[Any], build: Callable[..., Sequence[Value]]
    ) -> str:
        """Add a private function, whose results `build` returns for its arguments; return its
        name.
        """
        function = self.new_function(name, types, mlir.current_location())
        with mlir.InsertionPoint(mlir.body(function)):
            results = build(*mlir.arguments(function))
        mlir.finish_function(function, results)
        return mlir.function_name(function)

    def declare_function(self, name: str, inputs: Sequence[Any], results: Sequence[Any]) -> str:
        """Add a private function without a body; return its name."""
        unique = self._unique(name)
        self.functions[unique] = mlir.declare_function(self.module, unique, inputs, results)
        return unique

    def refresh(self) -> None:
        """Takes notice of functions that others have added to the module."""
        self.functions.update(mlir.functions(self.module))

    def reserve(self, key: Any, names: Sequence[str]) -> tuple[Sequence[str], bool]:
        """Return names for functions to be added later, the same for the same key, and whether they
        are new.
        """
        is_new = key not in self._reserved
        if is_new:
            taken = [n for others in self._reserved.values() for n in others]
            self._reserved[key] = [
                self._unique(f"{name}_{len(taken)}" if name in taken else name) for name in names
            ]
        return self._reserved[key], is_new

    def new_function(self, name: str, inputs: Sequence[Any], location: Any) -> Operation:
        """Add an empty private function with an unused name."""
        unique = self._unique(name)
        function = mlir.new_function(self.module, unique, inputs, location)
        self.functions[unique] = function
        return function

    def _unique(self, name: str) -> str:
        """Return the name if it is unused or reserved for this function; otherwise an unused
        one.
        """
        taken = {n for names in self._reserved.values() for n in names}
        if name in taken and name not in self.functions:
            return name
        unique, count = name, 0
        while unique in self.functions or unique in taken:
            count += 1
            unique = f"{name}_{count}"
        return unique


N = TypeVar("N")


def reached(start: Iterable[N], further: Callable[[N], Iterable[N]]) -> set[N]:
    """Return the nodes of a graph that are reached from some, these included; `further` has the
    neighbors of one.
    """
    found: set[N] = set()
    pending = list(start)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += further(node)
    return found


def walk(block: Block) -> Iterator[Operation]:
    """The operations of a block but its terminator, in order."""
    operations = [o.operation for o in block.operations]
    yield from operations[:-1]


SCF = frozenset({"scf.for", "scf.if", "scf.while"})


def runs_blocks(operation: Operation) -> bool:
    """Return True if an operation's regions run where it stands: control flow, of StableHLO or of
    the dialect scf.
    """
    return traits_of(operation).captures or operation.name in SCF


def inputs(operation: Operation) -> list[Value]:
    """Return the values that an operation reads, those that its regions capture included."""
    operands = list(operation.operands)
    return [*operands, *mlir.captured(operation)] if runs_blocks(operation) else operands


def nested(operation: Operation) -> Iterator[Operation]:
    """Return the operations inside an operation, in order, each after those inside it, so that
    operations can be replaced while iterating.
    """
    # A generator for each level would hand every operation through all of those above it.
    levels = [_directly_in(operation)]
    holders: list[Operation] = []
    while True:
        for inner in levels[-1]:
            if len(inner.regions):
                levels.append(_directly_in(inner))
                holders.append(inner)
                break
            yield inner
        else:
            levels.pop()
            if not holders:
                return
            yield holders.pop()


def _directly_in(operation: Operation) -> Iterator[Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation


_EXECUTABLES = frozenset({"stream.executable", "flow.executable", "hal.executable"})


def outside_kernels(module: Module) -> Iterator[Operation]:
    """Return the operations of a module as `nested` does, but those inside executables."""
    for view in module.body.operations:
        inner = view.operation
        if inner.name not in _EXECUTABLES:
            yield from nested(inner)
        yield inner


def kernel_functions(executable: Operation) -> Iterator[Operation]:
    """Return the functions with code of an executable: they are directly in the modules in it."""
    for module in _directly_in(executable):
        if module.name == "builtin.module":
            for function in _directly_in(module):
                if function.name == "func.func" and len(function.regions[0].blocks):
                    yield function


def enclosing(operation: Operation) -> Iterator[Operation]:
    """Yield the operations that an operation is in, from the innermost."""
    parent: Any = operation.operation.parent
    while parent is not None:
        yield parent.operation
        parent = parent.operation.parent


def ancestor_in(block: Block, operation: Any) -> Operation:
    """Return the operation of a block that another one is, or is inside of."""
    while operation.operation.block != block:
        operation = operation.operation.parent
    return operation.operation


def users_in(block: Block, x: Value) -> list[Operation]:
    """Return the operations of a block that use a value, or contain one that does."""
    return [ancestor_in(block, use.owner) for use in x.uses]


@cmp_to_key
def in_order(one: Operation, other: Operation) -> int:
    """Return the key that sorts the operations of a block."""
    return 0 if one == other else -1 if one.is_before_in_block(other) else 1


def returned(function: Operation) -> list[Value]:
    """Return the operands of a function's return."""
    return list(mlir.terminator(mlir.body(function)).operands)


def rule(operation: Operation, kind: str) -> Op:
    """Read an operation as an op for a rule. Errors name the operation, its location and the
    rule.
    """
    try:
        return read(operation)
    except UnsupportedOp as error:
        raise UnsupportedOp(f"{kind}: {error}") from None


@contextmanager
def asking(operation: Operation) -> Iterator[None]:
    """Context of a rule: errors name the operation and its location."""
    try:
        yield
    except UnsupportedOp as error:
        raise in_context(error, operation) from None
    except Exception as error:
        if is_users(error):
            raise
        error.add_note(f"raised by a rule of {operation.name} at {operation.location}")
        raise


def in_context(error: UnsupportedOp, operation: Operation) -> UnsupportedOp:
    """Return the error with the location of the operation added."""
    text = str(error)
    lines = [frame.place() for frame in locations.frames(operation.location)]
    if "at loc(" in text or any(line in text for line in lines):
        return error
    return type(error)(f"{text} (at {lines[0] if lines else operation.location})")
