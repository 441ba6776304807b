"""irax's evaluator and its device `cpu`, compared with a model of the specification."""

from __future__ import annotations

import mmap
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from iree import compiler
from tests.conformance import alone, complexes, elementwise, ours
from tests.conformance.cases import Case, counted
from tests.conformance.generate import FAMILIES, LEFT_OUT, TITLES, cases
from tests.conformance.report import PAGE
from tests.runtime.vulkan_programs import needs_vulkan
from tests.sampling import ALL_FORMS

from irax_compiler.mlir.bindings import CONTEXT

BY_NAME = {family.__name__.rpartition(".")[2]: family for family in FAMILIES}
COUNT = 120 if ALL_FORMS else 12


def deviations(made: Sequence[Case], found: Sequence[ours.Results], flushes: bool) -> list[str]:
    """The cases that the specification has another answer for. Where a device takes subnormal
    numbers for zero, those are left out.
    """
    wrong = []
    for case, results in zip(made, found, strict=True):
        if isinstance(results, Exception):
            wrong.append(f"{case.name}: {results}")
            continue
        count = counted(case, results)
        if count.wrong or (count.subnormal and not flushes):
            wrong.append(f"{case.name}: {count}")
    return wrong


@pytest.mark.parametrize("name", BY_NAME)
def test_operations_with_shapes_by_the_evaluator(name: str) -> None:
    made = list(BY_NAME[name].everything(random.Random(1), COUNT))
    assert deviations(made, list(ours.evaluated(made)), False) == []


@pytest.mark.slow
def test_all_by_the_evaluator() -> None:
    made = list(cases(2, 100))
    assert sum(case.count for case in made) > 20_000
    assert deviations(made, list(ours.evaluated(made)), False) == []


def test_integers_by_the_evaluator() -> None:
    made = list(elementwise.of_integers(random.Random(1)))
    assert deviations(made, list(ours.evaluated(made)), False) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
def test_operations_with_shapes_on_the_cpu(name: str) -> None:
    made = list(BY_NAME[name].everything(random.Random(3), COUNT))
    assert deviations(made, list(ours.compiled(made)), True) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["of_floats", "of_integers", "conversions", "precisions"])
def test_elementwise_on_the_cpu(name: str) -> None:
    made = list(getattr(elementwise, name)(random.Random(3)))
    made = [case for case in made if "chlo.mulhi" not in case.op]  # refused for 2 and 4 bits
    made = made if ALL_FORMS else made[::5]
    assert deviations(made, list(ours.compiled(made)), True) == []


@pytest.mark.slow
def test_every_operation_has_a_case_or_a_reason() -> None:
    """The bindings can tell if a name is an operation's; the library has all names."""
    library = Path(compiler.__file__).with_name("_mlir_libs") / "libIREECompiler.so"
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        words = {word.decode() for word in re.findall(rb"hlo\.([a-z_0-9]+)", data)}
    names = {f"{dialect}.{word}" for dialect in ("stablehlo", "chlo") for word in words}
    there = set(filter(CONTEXT.is_registered_operation, names))
    assert len(there) > 160
    made = {case.op for case in cases(0, 30)}
    assert there - made == set(LEFT_OUT)


def test_the_families_of_the_page_add_up_to_its_totals() -> None:
    _, totals, by_family = (
        [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
        for part in re.split(r"\n\| backend|\n## By family", PAGE.read_text("utf-8"))
    )
    assert [row[0] for row in totals] == by_family[0][1:]
    assert [row[0] for row in by_family[1:]] == list(dict.fromkeys(TITLES.values()))
    for place, (_, _, _, count, wrong, _, _, refused, ended) in enumerate(totals, 1):
        cells = [[int(n) for n in row[place].split(" / ")] for row in by_family[1:]]
        found = [sum(column) for column in zip(*cells, strict=True)]
        assert found == [int(wrong), int(refused) + int(ended), int(count)]


def test_random_bits_are_those_of_xla() -> None:
    """The specification leaves them to the implementation."""
    made = list(alone.bits(random.Random(5), 60))
    found = [*ours.evaluated(made), *ours.compiled(made)]
    assert [
        count for case, x in zip(made * 2, found, strict=True) if (count := _open(case, x))
    ] == []


def _open(case: Case, found: ours.Results) -> str:
    if isinstance(found, Exception):
        return f"{case.name}: {found}"
    return case.name if counted(case, found).free else ""


@pytest.mark.slow
@needs_vulkan
@pytest.mark.parametrize(
    "op", ["log_plus_one", "asinh", "atanh", "acos", "maximum", "minimum", "remainder"]
)
def test_elementwise_on_vulkan(op: str) -> None:
    made = [
        case
        for make in (elementwise.of_floats, elementwise.of_integers, complexes.complex_functions)
        for case in make(random.Random(4))
        if case.op.endswith(f".{op}") and case.note in ("f32", "i8", "i32", "i64", "complex<f32>")
    ]
    assert deviations(made, list(ours.by_vulkan(made)), True) == []


def test_numbers_are_rounded_once() -> None:
    """Exact rounding agrees with the processor's where that has the formats."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=200), np.exp(rng.uniform(-110, 90, 200))])
    for name in ("f32", "f16"):
        format = elementwise.FLOATS[name]
        with np.errstate(over="ignore"):
            wanted = x.astype(format.dtype).astype(np.float64)
        assert [format.rounded(float(v)) for v in x] == wanted.tolist()
