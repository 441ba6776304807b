"""Legalizations say what they work around, and programs show it; `make upstream` runs them all."""

from __future__ import annotations

import os
import re
import time

import pytest
from tests.golden.test_golden import chip_of
from tests.upstream import outward, run, table
from tests.upstream.reproduction import FOLDER, Reproduction, in_child, outcome

from irax_compiler import chips, mlir
from irax_compiler.passes.core import nested
from irax_compiler.passes.legalize.legalization import Legalization
from irax_compiler.pipeline import run_pipeline

LEGALIZATIONS = [one for one, _ in table.legalizations().values()]
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.mlir"))
GOLDEN = FOLDER.parent / "golden"

WRONG = """
// Booleans are added modulo 2.
// EXPECT: wrong
// INPUT: [True, False]
// INPUT: [True, True]
func.func @main(%x: tensor<2xi1>, %y: tensor<2xi1>) -> tensor<2xi1> {
  %0 = stablehlo.add %x, %y : tensor<2xi1>
  return %0 : tensor<2xi1>
}
"""
REFUSED = """
// EXPECT: refused
// INPUT: [1]
func.func @main(%x: tensor<2xui32>) -> tensor<2xui32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<2xui32>
  return %0 : tensor<2xui32>
}
"""


@pytest.mark.parametrize("one", LEGALIZATIONS, ids=lambda one: one.name)
def test_legalizations_say_why_they_exist(one: Legalization):
    assert one.build.__doc__
    assert one.kind in ("bug", "missing", "slow")
    assert set(one.of) <= {"IREE", "Mesa", "StableHLO", "XLA"}
    assert one.of
    if one.fatal:
        assert re.search(r"\d+\.\d+", one.fatal), "say in which version"
        assert one.kind != "slow"
        assert one.name not in PROGRAMS, "a program that ends a process is not kept"
        return
    assert one.reproduction in PROGRAMS
    expected = Reproduction.read(one.reproduction).expected
    assert expected != "right", "a legalization without a fault to show is not needed"
    assert (expected == "slow") == (one.kind == "slow")
    if expected == "wrong":
        assert Reproduction.read(one.reproduction).specification, "say by which sentence: SPEC"


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_complete(name: str):
    reproduction = Reproduction.read(name)
    assert reproduction.why
    assert reproduction.issue is None or reproduction.issue.startswith("https://")
    assert mlir.parse_module(reproduction.text)
    reproduction.arguments()


def test_every_program_shows_something():
    assert {one.reproduction for one in LEGALIZATIONS if not one.fatal} == set(PROGRAMS)


UNSHOWN = {
    *("bits_in_computation", "complex_cube_root"),
    *("complex_function_of_chlo", "constant_of_complex", "contraction_in_parts"),
    *("contraction_of_computed_operands", "convolution_in_parts"),
    *("float8_of_float32", "reduction_in_another_dtype", "iota_of_narrow", "power_of_singles"),
    *("precision_in_computation", "reshape_of_one_element", "rounding_in_computation"),
    *("rounding_of_doubles", "scatter_in_parts", "scatter_of_several", "sort_by_comparator"),
    *("sort_of_many", "too_many_steps", "window_in_parts", "windows_of_empty_array"),
}
"""Legalizations without a golden file: a new one has one."""


def test_legalizations_have_golden_files():
    shown: set[str] = set()
    for path in GOLDEN.rglob("*.mlir"):
        text = path.read_text("utf-8")
        module = mlir.parse_module(text)
        for pipeline in re.findall('^// RUN: --pipeline "(.*legalize.*)"$', text, re.MULTILINE):
            with chips.compiling_for(chip_of(text)):
                run_pipeline(module, pipeline)
        shown.update(re.findall(r"\w+", text))
        for operation in nested(module.operation):
            shown.update(re.findall(r"\w+", str(operation.location)))
    assert {one.name for one in LEGALIZATIONS} - shown == UNSHOWN, (
        "add a function to a file of tests/golden/legalize for each"
    )


def test_the_table_is_as_the_legalizations_say():
    assert table.PATH.read_text("utf-8") == table.page(), "run `make docs`"


def test_the_reports_for_upstream_are_as_the_legalizations_say():
    there = outward.written()
    assert outward.PAGE.read_text("utf-8") == outward.page(there)
    for name, ones in outward.deviations().items():
        assert there[name].startswith(outward.told(name, ones)), (
            f"run `python -m tests.upstream.outward {name}`"
        )


def test_reports_of_wrong_results_name_a_sentence_of_the_specification():
    shown = {name for name, text in outward.written().items() if ", right: " in text}
    assert {name for name in shown if not Reproduction.read(name).specification} == set()


def test_outcomes():
    wrong = Reproduction.parse("wrong", WRONG)
    assert outcome(wrong, "iree-cpu") == "wrong"
    right = Reproduction.parse("right", WRONG.replace("[True, True]", "[False, False]"))
    assert outcome(right, "iree-cpu") == "right"
    assert outcome(Reproduction.parse("refused", REFUSED), "iree-cpu") == "refused"
    assert outcome(wrong, "tpu").startswith("untried")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"), [("carried_constant", "iree-vulkan"), ("iota_of_narrow", "iree-vulkan")]
)
def test_what_iree_s_verifier_finds_late_is_refused(name: str, target: str):
    """IREE verifies its modules, which the passes of irax's own pipelines need not."""
    assert outcome(Reproduction.read(name), target) == "refused"


def test_processes_that_end_early_or_do_not_end():
    for job, limit in ((lambda: os.abort() or "", 10), (lambda: time.sleep(60) or "", 0.1)):
        with pytest.raises(RuntimeError, match="in words"):
            in_child(job, limit)


def test_fatal_defects_are_not_tried():
    text = "\n".join(run.lines(["empty_contraction"]))
    assert "not tried: the compiler of IREE" in text
    assert "fatal: 1" in text


def test_a_mistake_in_a_program_is_told():
    mistaken = Reproduction.parse("mistaken", WRONG.replace("// INPUT: [True, True]\n", ""))
    with pytest.raises(RuntimeError, match="zip"):
        outcome(mistaken, "iree-cpu")
    with pytest.raises(ValueError, match="'worse'"):
        Reproduction.parse("unknown", WRONG.replace("EXPECT: wrong", "EXPECT: worse"))


@pytest.mark.parametrize(
    "found, said",
    [
        (["right", "wrong"], "needed"),
        (["untried: why", "refused"], "needed"),
        (["right", "right"], "not needed"),
        (["right", "untried: why"], "untried"),
    ],
)
def test_verdicts(found: list[str], said: str):
    assert run.verdict(found) == said


def test_the_report(monkeypatch: pytest.MonkeyPatch):
    found = {"add_of_booleans": {"iree-cpu": "wrong"}, "stable_sort": {"iree-cpu": "right"}}
    monkeypatch.setattr(run, "outcomes", found.__getitem__)
    text = "\n".join(run.lines(found))
    assert "needed: 1\nnot needed: 1" in text
    assert "No longer needed: stable_sort." in text
