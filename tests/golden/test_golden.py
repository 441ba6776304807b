"""Runs the golden files: `.mlir` files that say what passes make of them.

    // RUN: --pipeline "jvp{func=main},cse"
    // CHECK: func.func @main.jvp

A file's RUN lines are options of `irax opt`, which run one after the other on the module in it;
what that prints is compared with the CHECK lines, as LLVM's FileCheck does it (`checks.py`), and by
FileCheck itself where it is installed. The passes are for the chip of a line such as
`// CHIP: x86-64-v4`, without one for a processor of no wide registers.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.golden.checks import complaint, for_llvm

from irax_compiler import chips
from irax_tools.cli import main

FOLDER = Path(__file__).parent
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.mlir"))
RUN = re.compile(r'^// RUN: --pipeline "(.*)"$', re.MULTILINE)
CHIP = re.compile(r"^// CHIP: (.*)$", re.MULTILINE)
NAMES = ["FileCheck", *(f"FileCheck-{version}" for version in range(30, 13, -1))]
FILECHECK = next(filter(None, map(shutil.which, NAMES)), None)


def chip_of(text: str) -> str:
    """The chip that a golden file is for."""
    found = CHIP.search(text)
    return "generic" if found is None else found[1]


def transformed(text: str) -> str:
    """The module in a golden file after its RUN lines' pipelines."""
    pipelines = RUN.findall(text)
    assert pipelines, 'no line of the form: // RUN: --pipeline "..."'
    assert len(pipelines) == text.count("RUN:"), 'expected // RUN: --pipeline "..."'
    for pipeline in pipelines:
        done = CliRunner().invoke(main, ["opt", "--pipeline", pipeline], input=text)
        assert done.exit_code == 0, done.stderr
        text = done.stdout
    return text


def output_of(text: str) -> str:
    """The text that a golden file is compared with."""
    with chips.compiling_for(chip_of(text)):
        return transformed(text)


def llvms_complaint(text: str, output: str, folder: Path) -> str:
    """The complaint of LLVM's FileCheck about an output; empty if there is none."""
    assert FILECHECK is not None
    checks = folder / "checks.mlir"
    checks.write_text(for_llvm(text), "utf-8")
    command = [FILECHECK, str(checks), "--dump-input=never"]
    done = subprocess.run(command, input=output, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("name", FILES)
def test_golden(name: str):
    text = (FOLDER / name).read_text("utf-8")
    output = output_of(text)
    problem = complaint(text, output)
    assert not problem, f"{name}, {problem}\nThe output was:\n{output}"


@pytest.mark.slow
@pytest.mark.needs_system(None if FILECHECK else "LLVM's FileCheck, as of Debian's llvm-14-tools")
@pytest.mark.parametrize("name", FILES)
def test_golden_by_llvm(name: str, tmp_path: Path):
    text = (FOLDER / name).read_text("utf-8")
    problem = llvms_complaint(text, output_of(text), tmp_path)
    assert not problem


PRINTED = """\
func.func @f(%arg0: tensor<f32>) {
  %0 = stablehlo.sine %arg0 : tensor<f32>
  %1 = stablehlo.cosine %arg0 : tensor<f32>
  return %0, %1
}
func.func @g(%arg0: tensor<f32>) {
  %0 = stablehlo.tanh %arg0 : tensor<f32>
  return %0
}
"""
HOLDS = [
    "// CHECK: sine\n// CHECK-NEXT: cosine",
    "// CHECK:   [[Y:%\\w+]]  = stablehlo.sine\n// CHECK: return [[Y]], %1",
    "// CHECK: [[Y:%\\w+]] = stablehlo.tanh\n// CHECK-NEXT: return [[Y]]",
    "// CHECK: sine [[X:.*]] :\n// CHECK-NEXT: {{cos|s}}ine [[X]]",
    "// CHECK: sine\n// CHECK-SAME: f32\n// CHECK-NOT: sine\n// CHECK: cosine",
    "// CHECK-DAG: cosine\n// CHECK-DAG: stablehlo.sine\n// CHECK: return",
    "// CHECK-DAG: {{stablehlo.*}}sine\n// CHECK-DAG: {{stablehlo.*}}sine\n// CHECK: return",
    "// CHECK-LABEL: @f\n// CHECK-NOT: tanh\n// CHECK-LABEL: @g\n// CHECK: tanh",
    "// CHECK-LABEL: @g\n// CHECK-NOT: sine",
    "// CHECK-COUNT-3: stablehlo\n// CHECK-NOT: stablehlo",
    "// CHECK-NOT: tanh\n// CHECK-DAG: cosine\n// CHECK-DAG: sine\n// CHECK: tanh",
]
FAILS = [
    ("// CHECK: tangent", "no match"),
    ("// CHECK: sine\n// CHECK-NEXT: return", "2 lines further"),
    ("// CHECK: stablehlo\n// CHECK-NEXT: sine", "0 lines further"),
    ("// CHECK: sine\n// CHECK-NEXT: stablehlo.sine", "no match"),
    ("// CHECK: sine\n// CHECK-SAME: cosine", "1 lines further"),
    ("// CHECK: @f\n// CHECK-NOT: cosine\n// CHECK: return", "excluded"),
    ("// CHECK: @g\n// CHECK-NOT: return", "excluded"),
    ("// CHECK-NOT: @f\n// CHECK: sine", "excluded"),
    ("// CHECK: @f\n// CHECK-NOT: sine\n// CHECK-DAG: cosine", "excluded"),
    ("// CHECK: @f\n// CHECK-NOT: cosine\n// CHECK-LABEL: @g", "excluded"),
    ("// CHECK-LABEL: @f\n// CHECK: tanh\n// CHECK-LABEL: @g", "no match"),
    ("// CHECK-DAG: tanh\n// CHECK-DAG: tanh", "no match"),
    ("// CHECK-COUNT-4: stablehlo", "no match"),
    ("// CHECK: sine [[X:%arg0]]\n// CHECK: return [[X]]", "no match"),
    ("// CHECK: return [[X]]", "has no value"),
]
REFUSED = [
    ("", "no CHECK line"),
    ("// CHECK-NXT: sine", "no directive"),
    ("// CHECK-NOT sine", "no directive"),
    ("//CHECK: sine", "no directive"),
    ("// CHECK:sine", "no directive"),
    ("// CHECK:", "no directive"),
    ("// CHECK-COUNT: sine", "no directive"),
    ("// CHECK-COUNT-0: sine", "no directive"),
    ("// CHECK-DAG-NOT: sine", "no directive"),
    ("// CEHCK: sine", "no directive"),
    ("// Check-next: sine", "no directive"),
    ("// VECTOR: sine", "no directive"),
    ("// RUN : sine", "no directive"),
    ("// CHECK: {{sine", "expected {{...}}"),
    ("// CHECK: [[x-y]]", "expected {{...}}"),
    ("// CHECK: [[X:%0]], [[X:%1]]", "stands twice"),
    (r"// CHECK: {{\d}}", r"do not have \d"),
    ("// CHECK: {{.*?}}", "do not have *?"),
    ("// CHECK-LABEL: @[[F:f]]", "has no names"),
    ("// CHECK-NEXT: sine", "stands first"),
    ("// CHECK-NOT: sine\n// CHECK-SAME: sine", "stands first"),
]


@pytest.mark.parametrize("checks", HOLDS)
def test_checks_hold(checks: str, tmp_path: Path):
    assert complaint(checks, PRINTED) == ""
    assert FILECHECK is None or llvms_complaint(checks, PRINTED, tmp_path) == ""


@pytest.mark.parametrize("checks, problem", FAILS)
def test_checks_fail(checks: str, problem: str, tmp_path: Path):
    assert problem in complaint(checks, PRINTED)
    assert FILECHECK is None or llvms_complaint(checks, PRINTED, tmp_path)


@pytest.mark.parametrize("checks, problem", REFUSED)
def test_what_is_no_check_is_refused(checks: str, problem: str):
    right = "" if "first" in problem or not checks else "// CHECK: func.func\n"
    assert problem in complaint(right + checks, PRINTED)


@pytest.mark.parametrize("run", ["", "// RUN: irax-opt %s", '//RUN: --pipeline "cse"'])
def test_a_golden_file_without_a_pipeline_fails(run: str):
    with pytest.raises(AssertionError, match="RUN"):
        transformed(run + "func.func @main() {return}")
