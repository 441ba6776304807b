"""Scalar computations of regions as parameters of ops, such as the body of a general reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.once import once
from irax_compiler.ops import bitcast, comparison
from irax_compiler.ops.core import Op, UnsupportedOp, full, no_calls
from irax_compiler.ops.registry import folds_in_any_order, read, traits_of


@dataclass(frozen=True)
class Computation:
    """A function of scalars, which can be done to arrays element by element.

    It is known by its text, that of a module whose one function it is; so equal ones are equal.
    """

    text: str

    @classmethod
    def of(cls, block: Block) -> Computation:
        """Return the computation of a region's one block. Raises UnsupportedOp if it uses values
        from outside that are not constants, or operations that cannot be applied to arrays
        elementwise.
        """
        module = mlir.new_module()
        function = mlir.new_function(module, "body", [a.type for a in block.arguments])
        env: dict[Value, Value] = dict(zip(block.arguments, mlir.arguments(function), strict=True))
        with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            results = _copied(block, env)
        mlir.finish_function(function, results)
        return cls(str(module))

    @classmethod
    def build(cls, dtypes: Sequence[np.dtype], body: Callable[..., Sequence[Value]]) -> Computation:
        """Return the computation that `body` builds for scalars of the given dtypes."""
        module = mlir.new_module()
        types = [mlir.tensor_type((), np.dtype(d)) for d in dtypes]
        function = mlir.new_function(module, "body", types)
        with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            results = body(*mlir.arguments(function))
        mlir.finish_function(function, results)
        return cls(str(module))

    @property
    def result_dtypes(self) -> list[np.dtype]:
        return [mlir.dtype_of_type(t) for t in mlir.result_types(_function(self))]  # pyright: ignore

    @property
    def num_arguments(self) -> int:
        return len(mlir.arguments(_function(self)))

    def operation(self, number: int, operands: tuple[int, int]) -> str | None:
        """Return the operation that combines two of the arguments to result `number`: "add" or
        another commutative one, or "subtract"; "set" if the result is the second of them; None for
        any other computation.
        """
        source = mlir.body(_function(self))
        arguments = [source.arguments[i] for i in operands]
        result = mlir.terminator(source).operands[number]
        if result == arguments[1]:
            return "set"
        made = mlir.definition(result)
        if made is None or set(made.operands) != set(arguments):
            return None
        name = made.name.removeprefix("stablehlo.")
        in_order = name == "subtract" and list(made.operands) == arguments
        return name if folds_in_any_order(made) or in_order else None

    def comparison(self) -> str | None:
        """The direction, such as "GT", if this compares the first two of its arguments and does
        nothing else; None if not.
        """
        arguments = list(mlir.body(_function(self)).arguments)
        made = mlir.definition(mlir.terminator(mlir.body(_function(self))).operands[0])
        op = None if made is None else read(made)
        if made is None or list(made.operands) != arguments[:2]:
            return None
        return op.comparison_direction if isinstance(op, comparison.Compare) else None

    def fill(self, region: Any, unused: Sequence[Type] = ()) -> None:
        """Makes this the content of an operation's empty region; `unused` are the types of further
        arguments that the region has.
        """
        source = mlir.body(_function(self))
        types = [*(a.type for a in source.arguments), *unused]
        block = mlir.Block.create_at_start(region, types)
        with mlir.InsertionPoint(block):
            env: dict[Value, Value] = dict(zip(source.arguments, block.arguments, strict=False))
            results = self._copy(env, ())
            mlir.emit("stablehlo.return", results, results=[])

    def __call__(self, *arrays: Value) -> list[Value]:
        """Does it to arrays of one shape, element by element."""
        source = mlir.body(_function(self))
        env: dict[Value, Value] = dict(zip(source.arguments, arrays, strict=True))
        return self._copy(env, shape_of(arrays[0]))

    def _copy(self, env: dict[Value, Value], shape: tuple[int, ...]) -> list[Value]:
        *body, last = (o.operation for o in mlir.body(_function(self)).operations)
        for operation in body:
            constant = mlir.splat(operation.results[0])
            if constant is not None:
                results: Sequence[Value] = [full(shape, constant, constant.dtype)]
            else:
                attributes = mlir.attributes_of(operation)
                types = [mlir.tensor_type(shape, dtype_of(r)) for r in operation.results]
                operands = [env[v] for v in operation.operands]
                results = mlir.emit(operation.name, operands, attributes, types).results
            env.update(zip(operation.results, results, strict=True))
        return [env[v] for v in last.operands]

    def evaluate(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Does it to arrays of one shape, in NumPy."""
        source = mlir.body(_function(self))
        env: dict[Value, Any] = dict(zip(source.arguments, arrays, strict=True))
        *body, last = (o.operation for o in source.operations)
        for operation, op in zip(body, _ops(self), strict=True):
            env[operation.results[0]] = op.evaluate(no_calls, *(env[v] for v in operation.operands))
        shape = np.shape(arrays[0])
        return [np.broadcast_to(env[v], shape) for v in last.operands]


@once
def _module(computation: Computation) -> Module:
    """Return the parsed module, which is shared and lives as long as its operations are used."""
    return mlir.parse_module(computation.text)


def _function(computation: Computation) -> Operation:
    return mlir.functions(_module(computation))["body"]


@cache
def _ops(computation: Computation) -> list[Op]:
    *body, _ = (o.operation for o in mlir.body(_function(computation)).operations)
    return [read(operation) for operation in body]


def _copied(block: Block, env: dict[Value, Value]) -> list[Value]:
    """Copy a block, with its functions inlined, to the insertion point, and return its results;
    `env` has the arguments.
    """
    *body, last = (o.operation for o in block.operations)
    for operation in [*_constants_outside([*body, last]), *body]:
        _check_scalar(operation, env)
        operands = [env[v] for v in operation.operands]
        if operation.name == "func.call":
            called = mlir.body(mlir.function_beside(operation, mlir.callee(operation)))
            results = _copied(called, dict(zip(called.arguments, operands, strict=True)))
        else:
            attributes = mlir.attributes_of(operation)
            types = [r.type for r in operation.results]
            results = list(mlir.emit(operation.name, operands, attributes, types).results)
        env.update(zip(operation.results, results, strict=True))
    if any(v not in env for v in last.operands):
        raise UnsupportedOp(f"{last.name} at {last.location} returns a value from outside")
    return [env[v] for v in last.operands]


def _constants_outside(operations: Sequence[Operation]) -> list[Operation]:
    used = dict.fromkeys(v for operation in operations for v in operation.operands)
    sources = (mlir.definition(v) for v in used)
    constants = (s for s in sources if s is not None and s.name == "stablehlo.constant")
    return [s for s in dict.fromkeys(constants) if s not in operations]


@cache
def named(name: str, dtype: np.dtype) -> Computation:
    """One operation, such as `add`, of two numbers."""
    return Computation.build(
        [dtype, dtype], lambda x, y: list(mlir.emit(f"stablehlo.{name}", [x, y]).results)
    )


def _check_scalar(operation: Operation, env: dict[Value, Value]) -> None:
    scalar = all(shape_of(v) == () for v in [*operation.operands, *operation.results])
    known = operation.name == "func.call" or is_elementwise(operation)
    if not (known and scalar and all(v in env for v in operation.operands)):
        raise UnsupportedOp(
            f"{operation.name} at {operation.location} is in a computation that is done element by "
            "element; expected an elementwise operation on scalars of that computation"
        )


def is_elementwise(operation: Operation) -> bool:
    """True if each element of an operation's result depends only on the operands' elements at the
    same index.
    """
    traits = traits_of(operation)
    is_bits = operation.name == bitcast.BitcastConvert.name
    return traits.is_constant or traits.elementwise or is_bits
