"""Runs the golden files: `.mlir` files that say what passes make of them.

    // RUN: --pipeline "jvp{func=main},cse"
    // CHECK: func.func @main.jvp

A file's RUN lines are options of `irax opt`, which run one after the other on the module in it;
what that prints is compared with the CHECK lines, as LLVM's FileCheck does it. The passes are for
the chip of a line such as `// CHIP: x86-64-v4`, without one for a processor of no wide registers.
"""

import io
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts

from irax_compiler import chips
from irax_tools.cli import main

FOLDER = Path(__file__).parent
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.mlir"))
RUN = re.compile(r'^// RUN: --pipeline "(.*)"$', re.MULTILINE)
CHIP = re.compile(r"^// CHIP: (.*)$", re.MULTILINE)


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


def complaint(text: str, output: str, name: str = "golden.mlir") -> str:
    """FileCheck's complaint about an output and a text's CHECK lines; empty if there is none."""
    options = Options(name)
    checks = Parser(options, io.StringIO(text), *pattern_for_opts(options))
    matcher = Matcher(options, FInput(name, output), checks)
    matcher.stderr = io.StringIO()
    return "" if matcher.run() == 0 else matcher.stderr.getvalue() or "it failed"


@pytest.mark.parametrize("name", FILES)
def test_golden(name: str):
    text = (FOLDER / name).read_text("utf-8")
    with chips.compiling_for(chip_of(text)):
        output = transformed(text)
    problem = complaint(text, output, name)
    assert not problem, f"{problem}\nThe output was:\n{output}"


SOURCE = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}
"""
JVP = '// RUN: --pipeline "jvp{func=main}"\n'


@pytest.mark.parametrize(
    "checks, problem",
    [
        ("", "No check strings found"),
        ("// CHECK: stablehlo.tangent", "Couldn't match"),
        ("// CHECK: stablehlo.sine\n// CHECK-NEXT: stablehlo.multiply", "Couldn't match"),
        ("// CHECK: @main.jvp\n// CHECK-NOT: stablehlo.cosine\n// CHECK: return", "excluded"),
    ],
)
def test_a_wrong_golden_file_fails(checks: str, problem: str):
    text = JVP + SOURCE + checks
    assert problem in complaint(text, transformed(text))


def test_a_right_golden_file_passes():
    text = JVP + SOURCE + "// CHECK: @main.jvp\n// CHECK: stablehlo.cosine"
    assert complaint(text, transformed(text)) == ""


@pytest.mark.parametrize("run", ["", "// RUN: irax-opt %s", '//RUN: --pipeline "cse"'])
def test_a_golden_file_without_a_pipeline_fails(run: str):
    with pytest.raises(AssertionError, match="RUN"):
        transformed(run + SOURCE)
