"""Every case of the op tables in a function that each device of a mesh runs: by the evaluator, as
lanes of one program, in threads, by XLA's plugin and in processes.
"""

from __future__ import annotations

import pytest
from tests.differential.harness import Case
from tests.differential.meshes.partitions import evaluate_partitioned
from tests.differential.meshes.sharded_cases import (
    AXIS,
    SHARDED,
    arguments_of,
    check,
    divided,
    module_of,
    run_on,
)
from tests.runtime.communication.test_communication import job
from tests.runtime.pjrt.pjrt_programs import devices, needs_plugin
from tests.sampling import ALL_FORMS, sample

from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline
from irax_runtime.iree.cpu import cpu
from irax_runtime.mesh import MeshDevice, mesh_device

SIZE = 2
EVERY = 40
"""The default run compiles one case of so many."""


@pytest.mark.parametrize("case", sample(SHARDED, 8), ids=lambda c: f"{c.family}-{c.name}")
def test_devices_lanes_and_parts_agree(case: Case):
    arguments = arguments_of(case, SIZE)
    check(case, Evaluator(module_of(case, SIZE))("main", arguments), arguments)
    specs = [divided(x.ndim) for x in arguments]
    module = module_of(case, SIZE)
    check(case, evaluate_partitioned(module, arguments, {AXIS: SIZE}, specs)[0], arguments)
    run_pipeline(module, "batch-shard-maps")
    check(case, Evaluator(module)("main", arguments), arguments)


def threads() -> MeshDevice:
    return mesh_device(((AXIS, SIZE),), (cpu(0), cpu(1)), False)


def xla() -> MeshDevice:
    return mesh_device(((AXIS, SIZE),), devices(SIZE), False)


@pytest.mark.parametrize("make", [threads, pytest.param(xla, marks=needs_plugin)])
@pytest.mark.slow
def test_compiled_programs_agree(make):
    mesh = make()
    wrong = []
    for case in sample(SHARDED, EVERY):
        try:
            run_on(mesh, case)
        except AssertionError as error:
            wrong.append(f"{case.family}-{case.name}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_processes_agree():
    done = job(
        SIZE, str(1 if ALL_FORMS else EVERY), module="tests.differential.meshes.sharded_cases"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("compared") == SIZE
