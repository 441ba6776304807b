"""The pass refine: symbolic dimensions get values, or other symbolic dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Block, Module, Operation, Type
from irax_compiler.mlir.bindings import ir
from irax_compiler.ops.attributes import SIZED
from irax_compiler.ops.core import constant, plain_name, zeros_like
from irax_compiler.ops.dimension import Dimension
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.shape import Constant
from irax_compiler.passes.core import Pass, PassError, alone, register_pass
from irax_compiler.sizes import is_symbolic, substituted, variables
from irax_compiler.sizes.solving import solve

Values = Mapping[str, Any]
"""Sizes by the names of variables."""


@register_pass
@dataclass
class Refine(Pass):
    """Replaces variables of symbolic dimensions by numbers, all at once: `sizes=batch=8,n=4`."""

    name = "refine"
    sizes: tuple[str, ...] = ()
    """The values, as `batch=8`; each variable of the module has one."""

    def run(self, module: Module) -> None:
        values = {}
        for text in self.sizes:
            variable, sign, value = text.partition("=")
            if not sign or not value.strip().isdigit():
                raise PassError(f"refine: expected sizes such as batch=8, got {text!r}")
            values[variable.strip()] = int(value)
        missing = [v for v in variables_in(module) if v not in values]
        if missing:
            raise PassError(f"refine: no value for the variables {', '.join(missing)}")
        refine(module, values)


def refined(module: Module, func: str, values: Values) -> Module:
    """Return a new module with a function, and those that it calls, for values of the variables of
    symbolic dimensions.
    """
    copy = alone(module, func, is_foreign=False)
    refine(copy, values)
    return copy


def refine(module: Module, values: Values) -> None:
    """Give the variables of symbolic dimensions these values, in all functions of a module."""
    _Refinement(values).block(module.body)
    try:
        module.operation.verify()
    except mlir.MLIRError as error:
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise PassError(f"refine: {given}: {mlir.error_text(error)}") from None


def is_sized(function: Operation) -> bool:
    """True for a function with symbolic dimensions among its arguments."""
    return any(mlir.is_sized(x.type) for x in mlir.arguments(function))


def values_for(
    function: Operation, shapes: Sequence[Sequence[Any]], names: Sequence[str]
) -> dict[str, Any]:
    """The values of variables for which a function takes arguments of these shapes; `names` are
    those of the arguments in errors.

    Raises:
        ValueError: there are none.
    """
    for x, shape, name in zip(mlir.arguments(function), shapes, names, strict=True):
        own = mlir.shape_of(x)
        if len(shape) != len(own):
            expected = f"{len(own)} dimensions, of shape ({', '.join(map(str, own))})"
            raise ValueError(f"expected {name} to have {expected}; got shape {tuple(shape)}")
    stated = [
        (size, found, f"{name}.shape[{d}]")
        for x, shape, name in zip(mlir.arguments(function), shapes, names, strict=True)
        for d, (size, found) in enumerate(zip(mlir.shape_of(x), shape, strict=True))
    ]
    return solve(stated)


def variables_in(module: Module) -> list[str]:
    """The names of the variables in the arguments of a module's functions, sorted."""
    found: set[str] = set()
    for function in mlir.functions(module).values():
        for x in mlir.arguments(function):
            found.update(variables(mlir.shape_of(x)))
    return sorted(found)


class _Refinement:
    """Rewrites types, attributes and operations in place."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self._types: dict[Type, Type] = {}
        self._attributes: dict[Attribute, Attribute] = {}

    def block(self, block: Block) -> None:
        for argument in block.arguments:
            self._retype(argument)
        for view in list(block.operations):
            self._operation(view.operation)

    def _operation(self, operation: Operation) -> None:
        for result in operation.results:
            self._retype(result)
        if operation.name == Constant.name:  # whose attribute is elements, and no size
            return
        for name in list(operation.attributes):
            old: Any = operation.attributes[name]
            new = self.attribute(old)
            if new != old:
                operation.attributes[name] = new
        for region in operation.regions:
            for block in region:
                self.block(block)
        if _is_nothing(operation):
            _make_zeros(operation)
        elif operation.name.startswith("irax."):
            self._restate(operation)

    def _retype(self, value: Any) -> None:
        new = self.type(value.type)
        if new != value.type:
            value.set_type(new)

    def _restate(self, operation: Operation) -> None:
        """Make an operation with symbolic parameters StableHLO's, once all of them are known."""
        attributes: Any = operation.attributes
        if any(mlir.sizes_in(attributes[name]) for name in attributes) or any(
            mlir.is_sized(x.type) for x in operation.results
        ):
            return
        with mlir.InsertionPoint(operation), operation.location:
            if operation.name == Dimension.name:
                op = Dimension.read(operation)
                assert isinstance(op, Dimension)
                new = [constant(np.asarray(op.size).astype(op.dtype))]
            else:
                plain = mlir.emit(
                    plain_name(operation.name),
                    list(operation.operands),
                    {name: attributes[name] for name in attributes},
                    [x.type for x in operation.results],
                    len(operation.regions),
                )
                for region, there in zip(operation.regions, plain.regions, strict=True):
                    for block in list(region):
                        block.append_to(there)
                new = list(plain.results)
        mlir.replace(operation, new)

    # -- types and attributes --

    def type(self, type_: Any) -> Type:
        """A type for the values of the variables."""
        if type_ not in self._types:
            self._types[type_] = self._new_type(type_)
        return self._types[type_]

    def _new_type(self, type_: Any) -> Type:
        if isinstance(type_, ir.FunctionType):
            return mlir.function_type(
                [self.type(t) for t in type_.inputs], [self.type(t) for t in type_.results]
            )
        if not isinstance(type_, ir.RankedTensorType) or not mlir.is_sized(type_):
            return type_
        return mlir.tensor_type(self._sizes(mlir.shape_of_type(type_)), mlir.dtype_of_type(type_))

    def _sizes(self, sizes: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(substituted(n, self.values) for n in sizes)

    def attribute(self, attribute: Any) -> Attribute:
        """An attribute for the values of the variables."""
        if attribute not in self._attributes:
            self._attributes[attribute] = self._new_attribute(attribute)
        return self._attributes[attribute]

    def _new_attribute(self, attribute: Any) -> Attribute:
        found = mlir.sizes_in(attribute)
        if found is not None:
            kind, sizes = found
            known = self._sizes(sizes)
            if any(map(is_symbolic, known)):
                return mlir.sizes_attribute(known, kind)
            return SIZED[kind](known)
        if isinstance(attribute, ir.TypeAttr):
            return mlir.type_attribute(self.type(attribute.value))
        if isinstance(attribute, ir.DictAttr):
            return mlir.dictionary({e.name: self.attribute(e.attr) for e in attribute})
        if isinstance(attribute, ir.ArrayAttr):
            return mlir.array([self.attribute(item) for item in attribute])
        return attribute


def _is_nothing(operation: Operation) -> bool:
    """True for an operation whose result is known, because it has no elements or sums up none, and
    which StableHLO may not have: no slice begins beyond the end of an array.
    """
    traits, results = traits_of(operation), list(operation.results)
    if not plain_name(operation.name).startswith("stablehlo.") or not traits.is_pure:
        return False
    if len(results) != 1 or not isinstance(results[0].type, mlir.RankedTensorType):
        return False
    empty = [i for i, x in enumerate(operation.operands) if 0 in mlir.shape_of(x)]
    linear = traits.linear_in or ()
    is_zero = any if traits.is_product else all
    return 0 in mlir.shape_of(results[0]) or (bool(linear) and is_zero(i in empty for i in linear))


def _make_zeros(operation: Operation) -> None:
    """Replace an operation by zeros."""
    (result,) = operation.results
    with mlir.InsertionPoint(operation), operation.location:
        result.replace_all_uses_with(zeros_like(result))
    operation.erase()
