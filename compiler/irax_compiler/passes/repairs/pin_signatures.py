"""The pass pin-signatures, which keeps IREE from changing what functions take and return."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Type
from irax_compiler.passes.core import Pass, nested, register_pass

_LIST = mlir.parse_type("!util.list<?>")
_TIED, _OF_RESULTS = "tied_operands", "res_attrs"


@register_pass
class PinSignatures(Pass):
    """Has the private functions of IREE's dialect util that take a list first return that list, as
    an operand that is tied to a result.

    IREE 3.13's pass `iree-util-ipo` leaves functions with tied operands alone. Of others, it makes
    two arguments one if they are one value in the last calls of a function, though they are two in
    the first. It replaces results by results that it removes, as it does arguments, and ends the
    process.
    """

    name: ClassVar[str] = "pin-signatures"

    def run(self, module: Module) -> None:
        calls: dict[str, list[Operation]] = defaultdict(list)
        for operation in nested(module.operation):
            if operation.name == "util.call":
                calls[mlir.callee(operation)].append(operation)
        for view in module.body.operations:
            function = view.operation
            if function.name != "util.func":
                continue
            own = calls[mlir.function_name(function)]
            if own and _takes_list(function):
                _return_list(function)
                for call in own:
                    _take_back(call)


def _takes_list(function: Operation) -> bool:
    has_body = len(function.regions[0].blocks) > 0
    taken = mlir.arguments(function) if has_body else []
    return bool(taken) and taken[0].type == _LIST


def _return_list(function: Operation) -> None:
    taken = mlir.arguments(function)
    results: Sequence[Type] = []
    for end in [o for o in nested(function) if o.name == "util.return"]:
        with InsertionPoint(end), end.location:
            made = mlir.emit("util.return", [taken[0], *end.operands], {}, [])
        results = [x.type for x in made.operands]
        end.erase()
    type_ = mlir.function_type([x.type for x in taken], results)
    function.attributes["function_type"] = mlir.type_attribute(type_)
    for name, value in _with_list(function, len(results)).items():
        function.attributes[name] = value


def _take_back(call: Operation) -> None:
    """Replace a call by one that returns the list, too."""
    types = [_LIST, *(x.type for x in call.results)]
    attributes = {name: call.attributes[name] for name in call.attributes}
    attributes |= _with_list(call, len(types))
    with InsertionPoint(call), call.location:
        made = mlir.emit("util.call", call.operands, attributes, types)
    mlir.replace(call, [*made.results][1:])


def _with_list(operation: Operation, count: int) -> dict[str, Any]:
    """Return the attributes of a function or a call that say of so many results that the first is
    the first operand.
    """
    found = {_TIED: ["0 : index", *["-1 : index"] * (count - 1)]}
    for name, first in ((_TIED, "0 : index"), (_OF_RESULTS, "{}")):
        if name in operation.attributes:
            others: Any = operation.attributes[name]
            found[name] = [first, *map(str, others)]
    return {name: mlir.parse_attribute(f"[{', '.join(x)}]") for name, x in found.items()}
