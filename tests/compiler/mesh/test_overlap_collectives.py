"""Programs compute the same with sums that begin early."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.compiler.mesh.test_combine_all_reduces import MESH, SHAPES, random_program
from tests.compiler.mesh.test_combine_all_reduces import results as evaluated
from tests.differential.random.trials import COUNT, SEED

from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.passes.mesh.communicate import Communicate
from irax_compiler.passes.mesh.overlap_collectives import OverlapCollectives
from irax_compiler.targets.cpu import CPU
from irax_runtime.communication.communicator import Communicator
from irax_runtime.communication.threads import ThreadGroup, ThreadRank
from irax_runtime.iree.cpu import cpu

EAGER = OverlapCollectives(small=0, least=1)


def random_text(seed: int) -> str:
    return random_program(np.random.default_rng([SEED, seed]))


def test_random_programs_are_in_order():
    count = 0
    for seed in range(COUNT or 8):
        module = mlir.parse_module(random_text(seed))
        Communicate().run(module)
        EAGER.run(module)
        assert module.operation.verify()
        text = str(module)
        count += text.count("@irax_host.begin")
        assert text.count("@irax_host.begin") == text.count("@irax_host.await")
    assert count >= 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(COUNT or 8))
def test_random_programs_compute_the_same(seed: int, monkeypatch: pytest.MonkeyPatch):
    passes = [EAGER if isinstance(p, OverlapCollectives) else p for p in CPU.passes]
    monkeypatch.setattr(ThreadRank, "overlaps", True)
    eager = targets.register(replace(CPU, name="test-overlap", passes=tuple(passes)))
    text = random_text(seed)
    module = lower(mlir.parse_module(text), "main", eager.name)
    assert "begin" in str(module)
    executable = cpu().load(targets.compile(module, eager.name))
    places = list(np.ndindex(*MESH.values()))

    def run(rank: Communicator) -> list[Any]:
        own = np.random.default_rng(list(places[rank.rank]))
        given = [own.normal(size=s).astype(np.float32) for s in SHAPES]
        return [x.numpy() for x in executable([cpu().put(np.asarray(x)) for x in given])]

    found = ThreadGroup(len(places)).run(run)
    for one, other in zip(found, evaluated(mlir.parse_module(text)), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)
