"""Every case, its derivatives and its batched forms are compiled by the compiler for TPUs, or are
refused by name before it sees them. By default a few; all with IRAX_ALL_FORMS=1.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.differential.harness import assert_near, epsilon
from tests.differential.test_iree import MODULES, Function
from tests.differential.test_pjrt import expected_of
from tests.differential.tpu_worker import COMPILED, REFUSED
from tests.runtime.pjrt_programs import needs_tpu_compiler
from tests.sampling import ALL_FORMS

from irax_compiler import mlir
from irax_compiler.evaluate import Evaluator
from irax_compiler.lowering import lower

TOPOLOGY = "v5e:2x2x1"
WITHOUT_LIBRARIES = ("callback-", "factorizations-eig", "factorizations-schur")
"""Functions that call Python, or LAPACK, by the beginnings of their names: those that are refused,
and `factorizations-eigh`, which is not."""
FUNCTIONS = [function for module in MODULES.values() for function in module]
SAMPLE = [f"{module}:0" for module in list(MODULES)[::8]]


def outcomes(*names: str) -> Iterator[tuple[str, str]]:
    """Each function's name and what became of it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.differential.tpu_worker", TOPOLOGY, *names],
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    if done.returncode:
        lines.append(f"wrong: the process ended with {done.returncode}: {done.stderr[-2000:]}")
    return zip(lines[::2], lines[1::2], strict=True)


def is_wrong(name: str, outcome: str) -> bool:
    if outcome.startswith(REFUSED):
        on_host = name.startswith(WITHOUT_LIBRARIES) and "eigh" not in name
        return not (on_host or ("precision-f64" in name and "reduce_precision of" in outcome))
    return outcome != COMPILED


@needs_tpu_compiler
@pytest.mark.parametrize("names", [*MODULES] if ALL_FORMS else [SAMPLE])
def test_the_compiler_for_tpus_takes_it(names: str | list[str]) -> None:
    found = list(outcomes(*([names] if isinstance(names, str) else names)))
    assert found
    wrong = [f"{name}: {outcome}" for name, outcome in found if is_wrong(name, outcome)]
    assert not wrong, "\n".join(wrong)


REWRITTEN = [f for f in FUNCTIONS if f.case.family in ("fft", "windows", "convolution")]


@pytest.mark.parametrize("functions", [REWRITTEN[i::8] for i in range(8)])
def test_what_is_rewritten_for_tpus_means_what_it_meant(functions: list[Function]) -> None:
    for function in functions[:: 1 if ALL_FORMS else 6]:
        module = mlir.new_module()
        name = function.add_to(module, "f")
        arrays = function.arguments()
        found = Evaluator(lower(module, name, "tpu"))(name, arrays)
        for result, value in zip(found, expected_of(module, function, name, arrays), strict=True):
            rounding = 100 * epsilon(value.dtype) if mlir.inexact(value.dtype) else 0
            assert_near(result, value, max(function.case.tolerance or 0, rounding))
