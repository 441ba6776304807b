"""The pass remove-fusion-barriers, which removes barriers once IREE has formed its kernels."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, enclosing, nested, outside_kernels, register_pass
from irax_compiler.passes.host.annotate import is_for_all_sizes
from irax_compiler.passes.kernels.code.loops import choose
from irax_compiler.passes.repairs.flow.copies import after

_BARRIER, _IF, _SELECT = "util.optimization_barrier", "scf.if", "arith.select"


@register_pass
class RemoveFusionBarriers(Pass):
    """Removes barriers on arrays from modules of IREE's dialect flow, which has formed its kernels.

    In the phases after it they do harm. IREE 3.13 takes what a barrier returns for memory of its
    own, and may write to it while the operand is still read. Its pass `propagate-subranges` finds
    the size of that memory in the first branch or loop that returns it, and uses the size in
    others: "operand does not dominate this use", or the process ends. The program would wait at
    each barrier, too.

    Barriers of programs for all sizes stay: without them, IREE may lose the device of numbers that
    arrays are filled with.
    """

    name: ClassVar[str] = "remove-fusion-barriers"

    def run(self, module: Module) -> None:
        if is_for_all_sizes(module):
            return
        for operation in [o for o in nested(module.operation) if o.name == _BARRIER]:
            held = list(zip(operation.results, operation.operands, strict=True))
            if all(isinstance(x.type, mlir.RankedTensorType) for x, _ in held):
                for result, operand in held:
                    result.replace_all_uses_with(operand)
                operation.erase()
        for select in [o for o in outside_kernels(module) if o.name == _SELECT]:
            if isinstance(select.results[0].type, mlir.RankedTensorType):
                _make_branch(select)
        for branch in [o for o in nested(module.operation) if o.name == _IF]:
            _keep_branch(branch)


def _make_branch(select: Operation) -> None:
    """Make a branch of a select of arrays, which IREE has made of one."""
    condition, *values = select.operands
    with InsertionPoint(select), select.location:
        (chosen,) = choose(condition, [lambda x=x: [x] for x in values], [values[0].type])
    mlir.replace(select, [chosen])


def _keep_branch(branch: Operation) -> None:
    """Keep IREE from making selects of results that come from outside of both branches: from here
    on it cannot form kernels of these, and fails ("circular dependency"). A result that is one
    value is that, and a kernel that does nothing makes another in a branch.
    """
    ends = [mlir.terminator(r.blocks[0]) for r in branch.regions if r.blocks]
    for i, result in enumerate(branch.results):
        values = [end.operands[i] for end in ends]
        if len(set(values)) == 1:
            result.replace_all_uses_with(values[0])
        elif isinstance(result.type, mlir.RankedTensorType) and not any(
            _is_inside(x, branch) for x in values
        ):
            with InsertionPoint(ends[0]), branch.location:
                ends[0].operands[i] = after(values[0], (), ())


def _is_inside(x: Value, branch: Operation) -> bool:
    source = mlir.definition(x)
    return source is not None and branch in enclosing(source)
