"""Functions of a module, and the operations that name them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from irax_compiler.mlir.attributes import (
    array,
    dictionary,
    parse_attribute,
    string,
    symbol,
    type_attribute,
)
from irax_compiler.mlir.bindings import UNKNOWN, Block, Location, Module, Operation, Type, Value, ir
from irax_compiler.mlir.operations import emit, operations_in, terminator
from irax_compiler.mlir.types import function_type

_REFERENCES = ("func.call", "stablehlo.composite", "stablehlo.custom_call")
"""The operations that name functions."""

NOT_INLINED = dict.fromkeys(("no_inline", "noinline"), parse_attribute("unit"))
"""The attributes that keep a function from being inlined, by MLIR and by IREE."""


def functions(module: Module) -> dict[str, Operation]:
    """The `func.func` operations of a module by name, in order."""
    found = {}
    for operation in module.body.operations:
        operation = operation.operation
        if operation.name == "func.func":
            found[function_name(operation)] = operation
    return found


class Functions(Mapping[str, Operation]):
    """The functions that a module has now, by name: to look few of them up."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def __getitem__(self, name: str) -> Operation:
        return ir.SymbolTable(self._module.operation)[name].operation

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in ir.SymbolTable(self._module.operation)

    def __iter__(self) -> Iterator[str]:
        return iter(functions(self._module))

    def __len__(self) -> int:
        return len(functions(self._module))


def function_name(function: Operation) -> str:
    """The symbol name of a function."""
    attribute: Any = function.attributes["sym_name"]
    return attribute.value


def arguments(function: Operation) -> list[Value]:
    """The arguments of a function."""
    return list(body(function).arguments)


def body(function: Operation) -> Block:
    """The one block of a function."""
    return function.regions[0].blocks[0]


def new_function(
    module: Module,
    name: str,
    inputs: Sequence[Type],
    location: Location = UNKNOWN,
    public: bool = False,
) -> Operation:
    """An empty function at the module's end; `finish_function` completes it."""
    attributes = {
        "sym_name": string(name),
        "function_type": type_attribute(function_type(inputs, [])),
    }
    if not public:
        attributes["sym_visibility"] = string("private")
    with ir.InsertionPoint(module.body), location:
        function = Operation.create("func.func", attributes=attributes, regions=1)
        ir.Block.create_at_start(function.regions[0], list(inputs))
    return function


def declare_function(
    module: Module, name: str, inputs: Sequence[Type], results: Sequence[Type]
) -> Operation:
    """A private function without a body, which the program gets from elsewhere, at the current
    location.
    """
    attributes = {
        "sym_name": string(name),
        "function_type": type_attribute(function_type(inputs, results)),
        "sym_visibility": string("private"),
    }
    with ir.InsertionPoint(module.body):
        return Operation.create("func.func", attributes=attributes, regions=1)


def emptied(function: Operation, types: Sequence[Type]) -> tuple[Operation, list[Value]]:
    """Adds, before a function, one of the same attributes with an empty body and no results.
    Returns it and its arguments, which are of these types.
    """
    attributes = {name: function.attributes[name] for name in function.attributes}
    with ir.InsertionPoint(function), function.location:
        attributes["function_type"] = type_attribute(function_type(types, []))
        new = emit("func.func", [], attributes, [], regions=1)
        return new, list(ir.Block.create_at_start(new.regions[0], types).arguments)


def finish_function(function: Operation, results: Sequence[Value]) -> None:
    """Ends a function with a return of `results` and gives it the type its block has."""
    block = body(function)
    with ir.InsertionPoint(block), function.location:
        Operation.create("func.return", operands=results)
    set_function_type(function)


def result_types(function: Operation) -> list[Type]:
    """The types of a function's results."""
    attribute: Any = function.attributes["function_type"]
    return list(attribute.value.results)


def set_function_type(function: Operation) -> None:
    """Gives a function the type that its block's arguments and its return have."""
    block = body(function)
    inputs = [argument.type for argument in block.arguments]
    results = [value.type for value in terminator(block).operands]
    function.attributes["function_type"] = type_attribute(function_type(inputs, results))


def make_public(function: Operation) -> None:
    """Makes a function one that others may call from outside: no pass removes or narrows it."""
    if "sym_visibility" in function.attributes:
        del function.attributes["sym_visibility"]


def is_public(function: Operation) -> bool:
    """True for a function that may be called from outside its module."""
    if "sym_visibility" not in function.attributes:
        return True
    visibility: Any = function.attributes["sym_visibility"]
    return visibility.value == "public"


def unique_name(module: Module, name: str, after: int = 0) -> str:
    """`name`, or `name_1`, `name_2`, ... if the module has it already; those up to a number `after`
    are known to be taken.
    """
    taken, candidate = ir.SymbolTable(module.operation), name
    for count in itertools.count(after + 1):
        if candidate not in taken:
            break
        candidate = f"{name}_{count}"
    return candidate


def function_beside(operation: Operation, name: str) -> Operation:
    """A function of the module that an operation is in."""
    module: Any = operation
    while module.name != "builtin.module":
        module = module.parent.operation
    return ir.SymbolTable(module)[name].operation


def calls(function: Operation) -> list[Operation]:
    """The `func.call` operations in a function and its regions, in order."""
    return _found(function, "func.call")


def references(function: Operation) -> list[Operation]:
    """The operations in a function and its regions that name other functions, in order."""
    return _found(function, *_REFERENCES)


def _found(function: Operation, *names: str) -> list[Operation]:
    return [operation for operation in operations_in(function) if operation.name in names]


def callee(call: Operation) -> str:
    """The name of the function that a `func.call` calls."""
    attribute: Any = call.attributes["callee"]
    return attribute.value


def callees_first(names: Iterable[str], called: Callable[[str], Iterable[str]]) -> list[str] | None:
    """The names of functions and of all that they call, each after those that it calls, which
    `called` returns; None if there is recursion.
    """
    order: list[str] = []
    is_done: dict[str, bool] = {}  # False for those that call the one that is looked at
    pending = [*names][::-1]
    while pending:
        name = pending[-1]
        if name not in is_done:
            is_done[name] = False
            others = list(called(name))
            if any(is_done.get(x) is False for x in others):
                return None
            pending += others[::-1]
        elif pending.pop() and not is_done[name]:
            is_done[name] = True
            order.append(name)
    return order


def named_functions(reference: Operation) -> list[str]:
    """The names of the functions that one of `references` names, each once, in order; none for
    other operations.
    """
    if reference.name not in _REFERENCES:
        return []
    return list(dict.fromkeys(a.value for a in _symbols(reference).values()))


def rename_functions(reference: Operation, names: Mapping[str, str]) -> None:
    """Makes one of `references` name other functions."""
    for (outer, inner), attribute in _symbols(reference).items():
        new = symbol(names[attribute.value])
        entries: Any = reference.attributes[outer]
        if isinstance(inner, int):
            new = array([new if i == inner else e for i, e in enumerate(entries)])
        elif inner:
            new = dictionary({e.name: new if e.name == inner else e.attr for e in entries})
        reference.attributes[outer] = new


def _symbols(reference: Operation) -> dict[tuple[str, str | int], Any]:
    """The attributes that are names of functions, and those in dictionaries and arrays, by their
    names and places.
    """
    found: dict[tuple[str, str | int], Any] = {}
    for name in reference.attributes:
        attribute: Any = reference.attributes[name]
        if isinstance(attribute, ir.FlatSymbolRefAttr):
            found[name, ""] = attribute
        elif isinstance(attribute, ir.DictAttr):
            for entry in attribute:
                if isinstance(entry.attr, ir.FlatSymbolRefAttr):
                    found[name, entry.name] = entry.attr
        elif isinstance(attribute, ir.ArrayAttr):
            for i, item in enumerate(attribute):
                if isinstance(item, ir.FlatSymbolRefAttr):
                    found[name, i] = item
    return found


def copy_functions(source: Module, name: str, target: Module) -> dict[str, str]:
    """Copies a function, and all that it calls, into another module, as private functions.

    Names that the target has already are made unique. Returns the new name of each function.
    """
    there = functions(source)
    wanted = [name]
    for function in wanted:
        for reference in references(there[function]):
            wanted += [n for n in named_functions(reference) if n not in wanted]
    names: dict[str, str] = {}
    taken = set(functions(target))
    for function in wanted:
        candidate, count = function, 0
        while candidate in taken:
            count += 1
            candidate = f"{function}_{count}"
        taken.add(candidate)
        names[function] = candidate
    for function in wanted:
        copy = there[function].clone(ip=ir.InsertionPoint(target.body))
        copy.attributes["sym_name"] = string(names[function])
        copy.attributes["sym_visibility"] = string("private")
        for reference in references(copy):
            rename_functions(reference, names)
    return names
