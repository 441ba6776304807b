"""Cases of the op tables, each run by the devices of a mesh on arguments of their own.

    mpiexec -n 2 python -m tests.differential.meshes.sharded_cases 40

compares every 40th case, run by two processes, with the evaluator.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from tests.differential.harness import CASES, Arrays, Case, assert_near, epsilon

from irax_compiler import api, mlir, targets
from irax_compiler.ops import shape
from irax_compiler.ops.control_flow.shard_map import ShardMap, Spec
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.structured import call_function
from irax_compiler.pipeline import run_pipeline
from irax_runtime.mesh import MeshDevice, MeshExecutable, MeshProgram

AXIS = "lane"
OF_A_LIBRARY = {"irax.eig", "irax.schur"}
"""Factorizations that a library of the target's computes, each with signs of its own."""
SHARDED = [c for c in CASES if c.operands and not OF_A_LIBRARY & set(c.op_names)]


def divided(rank: int) -> Spec:
    """The layout of an array whose first dimension has an element for each device."""
    return ((AXIS,), *((),) * (rank - 1))


def module_of(case: Case, size: int) -> mlir.Module:
    """A module whose @main has an `irax.shard_map`: each device runs the case on its row."""
    module = case.module()
    functions = mlir.Functions(module)
    subject = functions["main"]
    subject.attributes["sym_name"] = mlir.string("case")
    subject.attributes["sym_visibility"] = mlir.string("private")
    takes: list[Any] = [x.type for x in mlir.arguments(subject)]
    gives: list[Any] = mlir.result_types(subject)
    device = mlir.new_function(module, "device", [_rows(t, 1) for t in takes])
    with mlir.InsertionPoint(mlir.body(device)), mlir.UNKNOWN:
        pairs = zip(mlir.arguments(device), takes, strict=True)
        own = [shape.reshape(x, t.shape) for x, t in pairs]
        found = call_function(mlir.Functions(module), "case", own)
        rows = [shape.reshape(x, (1, *t.shape)) for x, t in zip(found, gives, strict=True)]
    mlir.finish_function(device, rows)
    specs = [tuple(divided(len(t.shape) + 1) for t in types) for types in (takes, gives)]
    main = mlir.new_function(module, "main", [_rows(t, size) for t in takes], public=True)
    with mlir.InsertionPoint(mlir.body(main)), mlir.UNKNOWN:
        op = ShardMap("device", ((AXIS, size),), (AXIS,), *specs, check_vma=False)
        results = op.build(mlir.arguments(main))
    mlir.finish_function(main, results)
    module.operation.verify()
    return module


def _rows(type_: Any, count: int) -> Any:
    return mlir.tensor_type((count, *type_.shape), mlir.dtype_of_type(type_))


def arguments_of(case: Case, size: int) -> Arrays:
    """Arguments with a row for each device."""
    rng = case.rng()
    rows = [case.arrays(rng) for _ in range(size)]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def expected_of(case: Case, arguments: Arrays) -> Arrays:
    """The results of the evaluator, row by row."""
    return _by_rows(Evaluator(case.module()), arguments)


def _by_rows(evaluator: Evaluator, arguments: Arrays) -> Arrays:
    rows = [evaluator("main", list(row)) for row in zip(*arguments, strict=True)]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def check(case: Case, found: Arrays, arguments: Arrays) -> None:
    """Compare results with the evaluator's. Factorizations are unique up to signs: LAPACK chooses
    them in one way, and what they are made of elsewhere in another.
    """
    try:
        _check(case, found, expected_of(case, arguments))
    except AssertionError:
        if case.family != "factorizations":
            raise
        module = case.module()
        run_pipeline(module, "decompose")
        _check(case, found, _by_rows(Evaluator(module), arguments))


def _check(case: Case, found: Arrays, expected: Arrays) -> None:
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype
        near = max(case.tolerance or 0, 64 * epsilon(y.dtype)) if mlir.inexact(y.dtype) else None
        assert_near(x, y, near)


def run_on(mesh: MeshDevice, case: Case) -> bool:
    """Compare what the devices of a mesh compute with the evaluator: in each process the rows that
    it has. Return False if their target refuses the case, or a device its arguments.
    """
    size = len(mesh.devices)
    arguments = arguments_of(case, size)
    module = module_of(case, size)
    specs = [divided(x.ndim) for x in arguments]
    types: list[Any] = mlir.result_types(mlir.functions(module)["main"])
    shapes = [tuple(t.shape) for t in types]
    program = api.partition(module, "main", mesh.axes, specs, [None] * len(shapes), mesh.target)
    try:
        lowered = api.lower(program, "main", mesh.target)
        launch = mesh.load_together(targets.compile(lowered, mesh.target), "main")
    except UnsupportedOp:
        return False
    layouts = api.layouts_of_results(program, "main")
    made = MeshProgram(launch, shapes, layouts)
    try:
        given = [mesh.put_shards(x, spec) for x, spec in zip(arguments, specs, strict=True)]
    except TypeError:  # the device takes no arrays of the dtype
        return False
    results = MeshExecutable(mesh, "main", lambda _: made).run(given)
    for place in mesh.local:
        own = [piece.pieces[place].numpy() for piece in results]
        check(case, own, [x[place : place + 1] for x in arguments])
    return True


def main(every: str) -> None:
    import irax
    from irax_runtime.mesh import mesh_device

    irax.distributed.initialize()
    devices = tuple(irax.devices())
    mesh = mesh_device(((AXIS, len(devices)),), devices, False)
    count = sum(run_on(mesh, case) for case in SHARDED[:: int(every)])
    print("compared", count, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
