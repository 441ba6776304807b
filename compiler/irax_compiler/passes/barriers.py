"""Barriers of what loops carry, in the form in which IREE awaits what it should.

IREE makes of an `optimization_barrier` its `util.optimization_barrier`, at which the program waits
for the value. But IREE 3.13 loses what it should wait for where the value is one that a loop
carries, or the same memory: the pass `iree-stream-propagate-timepoints` gives `scf.while` and
`scf.for` a timepoint beside each carried array, and only operations of a stream await it. Who reads
the array behind the barrier may then read it before it is written:

    %r = stablehlo.while(%n = %zero) : tensor<2xi32>
    cond { ... } do {
      %0 = stablehlo.optimization_barrier %n : tensor<2xi32>  // waits for nothing
      %1 = flow.dispatch.region ... %0                        // nor does this: it takes what waited
      ...

In the IR after `stream`, the `stream.cmd.execute` with %1 in it awaits an allocation alone, and not
the one that fills %zero. The driver `local-sync` runs all in order; `local-task` runs both at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.registers import signless_dtype
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.loops.memory import seen_as
from irax_compiler.passes.rewriting import replace

_LOOPS = {"stablehlo.while", "scf.for"}


@register_pass
@dataclass
class Barriers(Pass):
    """Makes barriers of what loops carry IREE's `compute_barrier`: it holds the compiler back as
    they do, and is gone before there are streams, so that nothing is lost and nothing waits.

    What is computed of one carried value alone counts as that value: IREE may find that it is.
    Other barriers stay. They do wait, and where they do not, IREE refuses some programs.
    """

    name: ClassVar[str] = "barriers"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for operation in [o for o in nested(function) if o.name == barrier.name]:
                if any(map(_is_carried, operation.operands)):
                    _replace(operation)


def _is_carried(x: Value) -> bool:
    """Whether a value may be one that a loop carries, in another form."""
    while not mlir.is_argument(x):
        source = mlir.definition(x)
        assert source is not None
        varying = {v for v in source.operands if not _is_constant(v)}
        if len(varying) != 1:
            return False
        (x,) = varying
    return mlir.owner_name(x) in _LOOPS


def _is_constant(x: Value) -> bool:
    source = mlir.definition(x)
    return source is not None and source.name == "stablehlo.constant"


def _replace(operation: Operation) -> None:
    with InsertionPoint(operation), operation.location:
        same = [
            _held_back(x) if _is_carried(x) else barrier.build([x])[0] for x in operation.operands
        ]
    replace(operation, same)


def _held_back(x: Value) -> Value:
    """The value behind a `compute_barrier`, which has no numbers without sign."""
    dtype = dtype_of(x)
    signless = seen_as(x, signless_dtype(dtype))
    made = mlir.emit("iree_tensor_ext.compute_barrier.start", [signless], {}, [signless.type])
    return seen_as(made.results[0], dtype)
