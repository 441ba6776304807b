"""The pass anchor, which gives kernels without operands an array to read."""

from __future__ import annotations

from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Type
from irax_compiler.passes.core import Pass, nested, register_pass

_KERNEL = "flow.dispatch"
_EMPTY = "flow.tensor.alloca"
"""Makes an empty array of its own for each kernel. IREE makes one of those of `flow.tensor.empty`,
and forgets some of the uses where these are in several groups of kernels."""
_ARRAY, _BINDING = "tensor<1xi32>", "!stream.binding"
_READ = f"!iree_tensor_ext.dispatch.tensor<readonly:{_ARRAY}>"


@register_pass
class Anchor(Pass):
    """Has each kernel of IREE's dialect flow that takes no array take one: one that nothing has
    written, and that the kernel does not read.

    IREE 3.13 takes a kernel without arrays for a way to fill one. It runs the kernel again rather
    than copy a result for what writes over it, and then takes the first of several results for the
    one that was to be copied. Later it finds that the kernels are equal and makes them one, so that
    what should have had a copy writes over what others read.
    """

    name: ClassVar[str] = "anchor"

    def run(self, module: Module) -> None:
        kernels = [o for o in nested(module.operation) if o.name == _KERNEL and not _takes_array(o)]
        if not kernels:
            return
        functions = {
            "@{}::@{}".format(*map(mlir.function_name, (executable.operation, function))): function
            for executable in module.body.operations
            if executable.operation.name.endswith(".executable")
            for function in nested(executable.operation)
            if function.name == "func.func"
        }
        entries = {str(entry) for kernel in kernels for entry in _entries(kernel)}
        for entry in entries & functions.keys():
            _take_array(functions[entry])
        for kernel in kernels:
            _give_array(kernel)


def _takes_array(dispatch: Operation) -> bool:
    return any(isinstance(x.type, mlir.RankedTensorType) for x in dispatch.operands)


def _entries(dispatch: Operation) -> Any:
    return dispatch.attributes["entry_points"]


def _take_array(function: Operation) -> None:
    """Give the function of a kernel one more array, the first."""
    block, own = mlir.body(function), mlir.arguments(function)
    first = _BINDING if any(str(x.type) == _BINDING for x in own) else _READ
    types: list[Type] = [mlir.parse_type(first), *(x.type for x in own)]
    given = [block.add_argument(t, function.location) for t in types]
    for old, new in zip(own, given[1:], strict=True):
        old.replace_all_uses_with(new)
    _erase_arguments(block, len(own))
    function.attributes["function_type"] = mlir.type_attribute(mlir.function_type(types, []))


def _erase_arguments(block: Block, count: int) -> None:
    for _ in range(count):
        block.erase_argument(0)


def _give_array(dispatch: Operation) -> None:
    """Replace a dispatch by one that has one more array, the first."""
    workload, count, *others = mlir.segments(dispatch)
    attributes = {name: dispatch.attributes[name] for name in dispatch.attributes}
    attributes |= mlir.segment_sizes(workload, count + 1, *others)
    operands = list(dispatch.operands)
    with InsertionPoint(dispatch), dispatch.location:
        array = mlir.emit(_EMPTY, [], {}, [mlir.parse_type(_ARRAY)]).results[0]
        operands.insert(workload, array)
        types = [x.type for x in dispatch.results]
        made = mlir.emit(_KERNEL, operands, attributes, types)
    mlir.replace(dispatch, made.results)
