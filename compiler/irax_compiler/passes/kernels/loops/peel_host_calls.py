"""The pass peel-host-calls, for loops that call the host in few of their steps.

A check of errors is a branch that calls the host and is almost never taken. A kernel cannot call
the host, so such a loop would run step by step. It becomes

    carry = quiet(carry)
    while condition(carry):
        carry = body(carry)
        carry = quiet(carry)

where `quiet` runs the steps that take no branch which calls the host, without these branches:

    while condition(carry) and not calls_host(carry):
        carry = quiet_body(carry)

This can be a kernel. The body still runs for each step that calls the host, so the calls are made
with the same values and in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.effects import remove_dead_operations
from irax_compiler.importing import deferred
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops import bitwise
from irax_compiler.ops.control_flow.branches import Branches, choose
from irax_compiler.ops.core import full, zeros_like
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.host import is_host_call

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.loops import kernels
else:
    (kernels,) = deferred("irax_compiler.passes.kernels.loops", "kernels")

_BOOL = np.dtype(bool)

_Env = dict[Value, Value]
"""Values of a loop's body, and their copies elsewhere; those without one stand for themselves."""


@register_pass
class PeelHostCalls(Pass):
    """Splits loops with branches that call the host. The steps that take none of these become a
    loop without them, where that suits a kernel; it runs before the loop and after each step of it.
    """

    name: ClassVar[str] = "peel-host-calls"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for loop in [o for o in nested(function) if o.name == "stablehlo.while"]:
                condition, body = (region.blocks[0] for region in loop.regions)
                if _calling(body) and not _calling(condition) and _may_be_quiet(body):
                    _split(loop)


def _split(loop: Operation) -> None:
    with InsertionPoint(loop), loop.location:
        first = _quiet(loop)
    quiet = mlir.definition(first[0])
    assert quiet is not None
    if not kernels.suits_kernel(quiet):
        quiet.erase()
        return
    last = mlir.terminator(loop.regions[1].blocks[0])
    with InsertionPoint(last), loop.location:
        again = mlir.copy(quiet, {})
    copy = mlir.definition(again[0])
    assert copy is not None
    for i, x in enumerate(last.operands):
        copy.operands[i] = x
    for user, results in ((loop, first), (last, again)):
        for i, x in enumerate(results):
            user.operands[i] = x


def _quiet(loop: Operation) -> Sequence[Value]:
    """Build the loop of the steps that do not call the host, and return its results."""
    condition, body = (region.blocks[0] for region in loop.regions)

    def goes_on(*carry: Value) -> Value:
        (holds,) = _values(condition, _results(condition), _given(condition, carry))
        # There may be no step after the last that could say, or would end.
        no_step = full((), False, _BOOL)
        is_quiet = lambda: [bitwise.not_(_is_taken(body, _given(body, carry)))]  # noqa: E731
        (found,) = choose("stablehlo.if", holds, [is_quiet, lambda: [no_step]])
        return bitwise.and_(holds, found)

    def step(*carry: Value) -> Sequence[Value]:
        return _values(body, _results(body), _given(body, carry))

    results = while_loop(goes_on, step, list(loop.operands))
    quiet = mlir.definition(results[0])
    assert quiet is not None
    for region in quiet.regions:
        remove_dead_operations(region.blocks[0])
    return results


def _given(block: Block, arguments: Sequence[Value]) -> _Env:
    return dict(zip(block.arguments, arguments, strict=True))


def _results(block: Block) -> list[Value]:
    return list(mlir.terminator(block).operands)


# ---- which steps call the host -------------------------------------------------------------------


def _calling(block: Block) -> list[Operation]:
    """Return the operations of a block that call the host, or have a region that may."""
    operations = (view.operation for view in block.operations)
    return [o for o in operations if any(map(is_host_call, (o, *nested(o))))]


def _may_be_quiet(block: Block) -> bool:
    """True if all calls of the host are in branches, each beside one that may be quiet."""
    return all(
        not is_host_call(o)
        and isinstance(read(o), Branches)
        and any(_may_be_quiet(r.blocks[0]) for r in o.regions)
        for o in _calling(block)
    )


def _is_taken(block: Block, env: _Env) -> Value:
    """Build whether a block runs a branch that calls the host."""
    found = [_takes_calling_branch(operation, block, env) for operation in _calling(block)]
    return reduce(bitwise.or_, found) if found else full((), False, _BOOL)


def _takes_calling_branch(operation: Operation, block: Block, env: _Env) -> Value:
    chooser, *_ = _values(block, [operation.operands[0], *mlir.captured(operation)], env)
    branches = [r.blocks[0] for r in operation.regions]
    if operation.name == "stablehlo.if":
        match [not _may_be_quiet(b) for b in branches], [bool(_calling(b)) for b in branches]:
            case [True, _], [_, False]:
                return chooser
            case [_, True], [False, _]:
                return bitwise.not_(chooser)

    def taken(branch: Block) -> list[Value]:
        always = not _may_be_quiet(branch)
        return [full((), True, _BOOL) if always else _is_taken(branch, dict(env))]

    choices = [lambda branch=branch: taken(branch) for branch in branches]
    return choose(operation.name, chooser, choices)[0]


# ---- steps that do not call it -------------------------------------------------------------------


def _values(block: Block, wanted: Sequence[Value], env: _Env) -> list[Value]:
    """Copy what values of a block are made of to the insertion point, and return the copies. The
    branches that call the host are left out. `env` has the copies that there are.
    """
    calling = _calling(block)
    for operation in _needed(block, wanted, env):
        if operation in calling:
            results = _without_calls(operation, env)
            env.update(zip(operation.results, results, strict=True))
        else:
            mlir.copy(operation, env)
    return [env.get(x, x) for x in wanted]


def _needed(block: Block, wanted: Sequence[Value], env: Mapping[Value, Value]) -> list[Operation]:
    """Return the operations of a block that values are made of, in order, those aside that `env`
    has the results of.
    """
    used, found = set(wanted), []
    for operation in reversed([view.operation for view in block.operations]):
        results = list(operation.results)
        if any(x in used for x in results) and not any(x in env for x in results):
            used.update(operation.operands, mlir.captured(operation))
            found.append(operation)
    return found[::-1]


def _without_calls(operation: Operation, env: _Env) -> Sequence[Value]:
    """Build a choice among branches of which none calls the host. The others are not taken: what
    stands for them returns zeros.
    """
    branches = [r.blocks[0] for r in operation.regions]
    quiet = [branch for branch in branches if _may_be_quiet(branch)]
    if len(quiet) == 1:
        return _values(quiet[0], _results(quiet[0]), env)

    def build(branch: Block) -> Sequence[Value]:
        if branch not in quiet:
            return [zeros_like(x) for x in operation.results]
        return _values(branch, _results(branch), dict(env))

    choices = [lambda branch=branch: build(branch) for branch in branches]
    chooser: Value = operation.operands[0]
    return choose(operation.name, env.get(chooser, chooser), choices)
