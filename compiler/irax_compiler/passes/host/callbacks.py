"""Callbacks, and calls of C functions, as calls of host functions, ordered by tokens.

IREE orders two calls only where one uses a result of the other. So each callback with a side effect
takes a token and returns one for the next callback. Loops carry the token, and branches return it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops.callback import Callback, is_callback
from irax_compiler.ops.control_flow.branches import choose
from irax_compiler.ops.core import full
from irax_compiler.ops.foreign_function import ForeignFunction, is_foreign_function
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.host import host_call, is_host_call, read_host_call

_Env = dict[Value, Value]
"""Values, and their copies where tokens are passed; those without one stand for themselves."""


@register_pass
class Callbacks(Pass):
    """Replaces callbacks by calls of host functions: `callback`, or `action` for one with a side
    effect; calls of C functions are `c_function` and `c_action`. An action takes a token after its
    other operands, and returns the next token after its other results. The last token may go to
    the host function `end`. Applies to modules without calls.
    """

    name: ClassVar[str] = "callbacks"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for operation in [o for o in nested(function) if _leaves(o)]:
                if not effects.has_effects(operation):
                    mlir.replace(operation, _pure(operation, list(operation.operands)))
            block = mlir.body(function)
            acting = [v.operation for v in block.operations if effects.has_effects(v.operation)]
            if acting:
                with InsertionPoint.at_block_begin(block), function.location:
                    token = full((), 0, np.dtype(np.int32))
                for operation in acting:
                    with InsertionPoint(operation):
                        *results, token = _with_token(operation, {}, token)
                    mlir.replace(operation, results)
                last = mlir.definition(token)
                assert last is not None
                # IREE's passes run for ever where nobody reads a branch's token, and remove C
                # functions, which are dispatches.
                is_foreign = (
                    is_host_call(last) and read_host_call(last)[0] in ForeignFunction.imports
                )
                if last.regions or is_foreign:
                    with InsertionPoint(mlir.terminator(block)), last.location:
                        host_call("end", [token], [], acts=True)


def _leaves(operation: Operation) -> bool:
    """True if an operation calls a function that is not the program's."""
    return is_callback(operation) or is_foreign_function(operation)


def _pure(operation: Operation, operands: Sequence[Value]) -> Sequence[Value]:
    op = read(operation)
    assert isinstance(op, Callback)
    with InsertionPoint(operation), operation.location:
        parameters: dict[str, Any] = {**op.import_parameters}
        return host_call(op.imports[0], operands, op.types, **parameters)


def _with_token(operation: Operation, env: _Env, token: Value) -> Sequence[Value]:
    """Build an operation with side effects at the insertion point, with operands replaced by `env`
    and a token; return its results and the next token.
    """
    operands = [env.get(v, v) for v in operation.operands]
    with operation.location:
        if _leaves(operation):
            op = read(operation)
            assert isinstance(op, Callback)
            given, types = [*operands, token], [*op.types, token.type]
            parameters: dict[str, Any] = {**op.import_parameters, "acts": True}
            return host_call(op.imports[1], given, types, **parameters)
        if not operation.regions:  # a call of a host function that takes no token
            return [*mlir.copy(operation, env), token]
        if operation.name == "stablehlo.while":
            return _loop(operation, operands, env, token)
        branches = [
            lambda block=region.blocks[0]: _block(block, [], env, token)
            for region in operation.regions
        ]
        return choose(operation.name, operands[0], branches)


def _loop(
    operation: Operation, operands: Sequence[Value], env: _Env, token: Value
) -> Sequence[Value]:
    condition, body = (region.blocks[0] for region in operation.regions)
    if not any(effects.has_effects(v.operation) for v in condition.operations):
        return while_loop(
            lambda *state: _block(condition, state[:-1], env, state[-1])[:-1],
            lambda *state: _block(body, state[:-1], env, state[-1]),
            [*operands, token],
        )
    # A condition returns no token. It is worked out beforehand, and by each step for the next one.

    def advance(*state: Value) -> Sequence[Value]:
        *carry, token = _block(body, state[:-2], env, state[-1])
        return [*carry, *_block(condition, carry, env, token)]

    start = [*operands, *_block(condition, operands, env, token)]
    *results, _, token = while_loop(lambda *state: state[-2], advance, start)
    return [*results, token]


def _block(block: Block, arguments: Sequence[Value], env: _Env, token: Value) -> list[Value]:
    """Copy a block to the insertion point; return its terminator's operands and the next token."""
    env = {**env, **dict(zip(block.arguments, arguments, strict=True))}
    *operations, last = (view.operation for view in block.operations)
    for operation in operations:
        if effects.has_effects(operation):
            *found, token = _with_token(operation, env, token)
            env.update(zip(operation.results, found, strict=True))
        else:
            mlir.copy(operation, env)
    return [*(env.get(v, v) for v in last.operands), token]
