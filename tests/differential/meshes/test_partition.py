"""Every case of the tables, and random programs, divided between devices, against the whole."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.harness import CASES, Case, assert_near, epsilon
from tests.differential.meshes.partitions import evaluate_partitioned, random_spec
from tests.differential.random.test_random_programs import (
    assert_close,
    drawn_like,
    examples,
    kept,
    random_case,
)
from tests.sampling import ALL_FORMS

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline

MESHES = ({"a": 2}, {"a": 2, "b": 2}, {"a": 3})
WITHOUT_DECOMPOSITION = {"irax.eig", "irax.schur"}
"""Factorizations that a library of the target's computes."""
DIVIDED = [c for c in CASES if c.operands and not WITHOUT_DECOMPOSITION & set(c.op_names)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "case", DIVIDED if ALL_FORMS else DIVIDED[::5], ids=lambda c: f"{c.family}-{c.name}"
)
def test_a_partitioned_op_is_the_whole_op(case: Case):
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    arrays = case.arrays(rng)
    whole = [((),) * x.ndim for x in arrays]
    expected, _ = evaluate_partitioned(case.module(), arrays, {"a": 1}, whole)
    for mesh in MESHES if ALL_FORMS else MESHES[:2]:
        specs = [random_spec(rng, x.shape, mesh) for x in arrays]
        found, _ = evaluate_partitioned(case.module(), arrays, mesh, specs)
        for x, y in zip(found, expected, strict=True):
            assert x.shape == y.shape
            assert_near(x, y, 64 * epsilon(y.dtype) if mlir.inexact(y.dtype) else None)


@examples(30)
@given(st.data())
def test_a_partitioned_program_is_the_whole_program(data: st.DataObject):
    module, x = random_case(data, most=12)
    with kept(module, "partition"):
        run_pipeline(module, "vjp{func=main},simplify,prune")
        evaluator = Evaluator(module)
        inputs = [*x, *drawn_like(data, evaluator("main", x))]
        expected = evaluator("main.vjp", inputs)
        whole = mlir.parse_module(
            str(module).replace("@main", "@first").replace("first.vjp", "main")
        )
        mesh = data.draw(st.sampled_from(MESHES))
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        specs = [random_spec(rng, a.shape, mesh) for a in inputs]
        found, _ = evaluate_partitioned(whole, inputs, mesh, specs)
        assert_close(found, expected)
