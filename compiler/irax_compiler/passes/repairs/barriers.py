"""The pass barriers, which makes fusion barriers on loop-carried values safe in IREE.

IREE lowers `optimization_barrier` to `util.optimization_barrier`, where the program waits for the
value. IREE 3.13 does not wait where the value is loop-carried, or in the same memory as such a
value. The pass `iree-stream-propagate-timepoints` gives `scf.while` and `scf.for` a timepoint for
each loop-carried array, and only stream operations await it. A reader of the array behind the
barrier may then read it before it is written:

    %r = stablehlo.while(%n = %zero) : tensor<2xi32>
    cond { ... } do {
      %0 = stablehlo.optimization_barrier %n : tensor<2xi32>  // waits for nothing
      %1 = flow.dispatch.region ... %0                        // does not wait either
      ...

After the phase `stream`, the `stream.cmd.execute` that contains %1 awaits only an allocation, not
the one that fills %zero. The driver `local-sync` runs them in order; `local-task`
runs both at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.registers import signless_dtype
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.kernels.loops.memory import seen_as

_LOOPS = {"stablehlo.while", "scf.for"}


@register_pass
class Barriers(Pass):
    """Replaces fusion barriers on loop-carried values by IREE's `compute_barrier`, which restrains
    the compiler in the same way and is removed before stream scheduling, so that the missing wait
    does no harm.

    Values computed from a single loop-carried value count as such, because IREE may simplify them
    to it. Other barriers stay: IREE waits at them, and refuses some programs without them.
    """

    name: ClassVar[str] = "barriers"

    def run(self, module: Module) -> bool | None:
        known: dict[Value, bool] = {}
        found = {
            operation: [_is_carried(x, known) for x in operation.operands]
            for function in mlir.functions(module).values()
            for operation in nested(function)
            if operation.name == barrier.name
        }
        for operation, are_carried in found.items():
            if any(are_carried):
                _replace(operation, are_carried)
        return any(map(any, found.values()))


def _is_carried(x: Value, known: dict[Value, bool]) -> bool:
    """True if a value may be a loop-carried value, perhaps in another form. `known` keeps the
    answer for all values on the way: barriers may follow each other.
    """
    passed = [x]
    while x not in known:
        before = _before(x)
        if before is None:
            known[x] = mlir.is_argument(x) and mlir.owner_name(x) in _LOOPS
        else:
            x = before
            passed.append(x)
    known.update(dict.fromkeys(passed, known[x]))
    return known[x]


def _before(x: Value) -> Value | None:
    """Return the only value that another is computed from, beside constants."""
    source = mlir.definition(x)
    varying = set() if source is None else {v for v in source.operands if not _is_constant(v)}
    return varying.pop() if len(varying) == 1 else None


def _is_constant(x: Value) -> bool:
    source = mlir.definition(x)
    return source is not None and source.name == "stablehlo.constant"


def _replace(operation: Operation, are_carried: Sequence[bool]) -> None:
    with InsertionPoint(operation), operation.location:
        same = [
            _held_back(x) if is_carried else barrier.build([x])[0]
            for x, is_carried in zip(operation.operands, are_carried, strict=True)
        ]
    mlir.replace(operation, same)


def _held_back(x: Value) -> Value:
    """Put a `compute_barrier`, which takes signless numbers only, behind a value."""
    dtype = dtype_of(x)
    signless = seen_as(x, signless_dtype(dtype))
    made = mlir.emit("iree_tensor_ext.compute_barrier.start", [signless], {}, [signless.type])
    return seen_as(made.results[0], dtype)
