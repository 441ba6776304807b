"""irax reduce, and irax check --reduce: what is left of modules that fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest
from tests.tools.test_extension import install

from irax_compiler import api, mlir
from irax_compiler.passes import Pass
from irax_tools import checking, children
from irax_tools.reduce import edits, failures
from irax_tools.reduce.search import Search
from irax_tools.sources import Source

LONG = """
func.func private @twice(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %p: tensor<i1>)
    -> (tensor<8xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.cosine %0 : tensor<8x16xf32>
  %c = stablehlo.constant dense<0.37> : tensor<8x16xf32>
  %n = stablehlo.constant dense<100> : tensor<i32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %2:2 = stablehlo.while(%k = %i, %v = %1) : tensor<i32>, tensor<8x16xf32>
  cond {
    %q = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.add %k, %one : tensor<i32>
    %b = func.call @twice(%v) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %d = stablehlo.multiply %b, %c : tensor<8x16xf32>
    stablehlo.return %a, %d : tensor<i32>, tensor<8x16xf32>
  }
  %3 = "stablehlo.if"(%p) ({
    %e = stablehlo.sine %2#1 : tensor<8x16xf32>
    stablehlo.return %e : tensor<8x16xf32>
  }, {
    stablehlo.return %2#1 : tensor<8x16xf32>
  }) : (tensor<i1>) -> tensor<8x16xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %4, %3 : tensor<8xf32>, tensor<8x16xf32>
}
"""


def reduced(fails, text: str = LONG) -> mlir.Module:
    search = Search(mlir.parse_module(text), "main", fails)
    found = search.run()
    assert found.operation.verify()
    assert fails(mlir.text_of(found.operation))
    return found


def names(module: mlir.Module) -> list[str]:
    return sorted(operation.name for operation in edits.operations(module))


@pytest.mark.parametrize(
    "name", ["tanh", "sine", "cosine", "dot_general", "multiply", "reduce", "compare"]
)
def test_one_operation_is_left(name):
    """It comes out of functions, loops and branches, with no more than it needs."""
    found = reduced(lambda text: f"stablehlo.{name}" in text)
    inside = {"stablehlo.add", "stablehlo.constant"} if name == "reduce" else set()
    assert set(names(found)) <= {f"stablehlo.{name}"} | inside
    (function,) = mlir.functions(found).values()
    assert all(x.type.shape in ([1], [1, 1], []) for x in mlir.arguments(function))


def test_a_loop_is_left_where_it_is_what_fails():
    found = reduced(lambda text: "stablehlo.while" in text and "stablehlo.tanh" in text)
    assert set(names(found)) <= {"stablehlo.while", "stablehlo.tanh", "stablehlo.constant"}
    assert len(names(found)) <= 3


def test_two_operations_that_depend_on_each_other():
    """A value that the second reads must come of the first."""

    def fails(text: str) -> bool:
        module = mlir.parse_module(text)
        there = [o for o in edits.operations(module) if o.name == "stablehlo.reduce"]
        inputs = [mlir.definition(o.operands[0]) for o in there]
        return any(x is not None and x.name == "stablehlo.if" for x in inputs)

    found = reduced(fails)
    assert {"stablehlo.if", "stablehlo.reduce"} <= set(names(found))
    assert not {"stablehlo.while", "stablehlo.sine", "stablehlo.cosine"} & set(names(found))


def test_constants_and_shapes_become_small():
    found = reduced(lambda text: "stablehlo.multiply" in text and "stablehlo.constant" in text)
    (constant,) = (o for o in edits.operations(found) if o.name == "stablehlo.constant")
    assert edits.complexity(constant) == 0
    assert edits.elements(found) <= 8


def test_what_does_not_fail_any_more_is_kept_as_it_is():
    text = mlir.text_of(mlir.parse_module(LONG).operation)
    search = Search(mlir.parse_module(LONG), "main", lambda candidate: candidate == text)
    assert mlir.text_of(search.run().operation) == text
    assert search.tries > 20


def test_a_private_function_is_reduced():
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = call @run(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func private @run(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.sine %x : tensor<2xf32>
      %1 = stablehlo.tanh %0 : tensor<2xf32>
      return %1 : tensor<2xf32>
    }
    """

    def fails(text: str) -> bool:
        return "sine" in text.rpartition("@run(%")[2]

    found = Search(mlir.parse_module(text), "run", fails).run()
    assert fails(mlir.text_of(found.operation))
    assert "stablehlo.tanh" not in names(found)


def test_the_search_ends_after_its_time():
    module = mlir.parse_module(LONG)
    start = time.monotonic()
    search = Search(module, "main", lambda text: time.sleep(0.05) is None, 0.2)
    search.run()
    assert time.monotonic() - start < 5
    assert 1 <= search.tries <= 6


# ---- processes -----------------------------------------------------------------------------------


def test_jobs_may_do_anything():
    assert children.run_job(lambda: 3).result == 3
    told = children.run_job(lambda: os.write(2, b"abc") and 1 / 0)
    assert (type(told.result), told.output) == (ZeroDivisionError, "abc")
    crashed = children.run_job(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    assert crashed.how == "SIGSEGV"
    assert children.run_job(lambda: time.sleep(60), 0.1).how == "time"
    assert children.run_job(lambda: os._exit(7)).how == "exit code 7"


def test_commands_may_do_anything():
    def run(script: str, limit: float = 60) -> children.Ending:
        return children.run_command(["sh", "-c", script], limit)

    ended = run("echo out; echo err >&2; exit 5")
    assert (ended.how, sorted(ended.output.split())) == ("exit code 5", ["err", "out"])
    assert run("kill -SEGV $$").how == "SIGSEGV"
    assert run("sleep 60 & wait", 0.1).how == "time"
    with pytest.raises(ValueError, match="no-such-program: No such file"):
        children.run_command(["no-such-program"])


# ---- irax reduce ---------------------------------------------------------------------------------

FINDS_TANH = "if grep -q tanh $0; then echo there is a tanh; exit 3; fi"


def test_a_command_that_fails(folder, irax):
    (folder / "long.mlir").write_text(LONG)
    options = ("-o", "small.mlir", "--report", "small.md")
    done = irax("reduce", "long.mlir", *options, "--", "sh", "-c", FINDS_TANH)
    assert done.returncode == 0, done.stderr
    assert "1 operations" in done.stderr
    module = mlir.parse_module((folder / "small.mlir").read_text())
    assert names(module) == ["stablehlo.tanh"]
    report = (folder / "small.md").read_text()
    assert report.startswith("# sh: exit code 3\n")
    for part in ("stablehlo.tanh", "there is a tanh", "small.mlir", "iree-base-compiler"):
        assert part in report


def test_a_command_whose_output_tells(folder, irax):
    (folder / "long.mlir").write_text(LONG)
    done = irax("reduce", "long.mlir", "--match", "cos.ne", "--", "cat", "{}")
    assert done.returncode == 0, done.stderr
    assert names(mlir.parse_module(done.stdout)) == ["stablehlo.cosine"]


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_file_that_cannot_be_written_is_told_before_the_search(folder, irax, option):
    done = irax("reduce", "long.mlir", option, "none/x", "--", "sh", "-c", FINDS_TANH)
    assert done.returncode == 1
    assert done.stderr == "irax: error: none/x: cannot be written: there is no folder none\n"


def test_a_command_that_is_slow(folder, irax):
    script = "if grep -q tanh $0; then sleep 0.2; fi"
    done = irax("reduce", "in.mlir", "--slower", "0.1", "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert names(mlir.parse_module(done.stdout)) == ["stablehlo.tanh"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no command: expected one after --"),
        (("--", "true"), "in.mlir: the command does not fail: exit code 0"),
        (("--match", "xyz", "--", "cat"), "its output has no 'xyz'"),
        (("--match", "(", "--", "cat"), "--match '(': not a regular expression"),
        (("--slower", "50", "--", "cat"), "it takes 0."),
        (("--slower", "1", "--match", "x", "--", "cat"), "expected one of them"),
        (("--limit", "0", "--", "cat"), "'--limit': 0.0 is not in the range x>0"),
    ],
)
def test_what_does_not_fail_is_told(irax, arguments, message):
    done = irax("reduce", "in.mlir", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


# ---- irax check --reduce -------------------------------------------------------------------------


@dataclass
class Miscompiles(Pass):
    """Makes sines of cosines."""

    name = "miscompiles"

    def run(self, module: api.Module) -> None:
        for operation in list(api.nested(module.operation)):
            if operation.name == "stablehlo.cosine":
                with mlir.InsertionPoint(operation), operation.location:
                    (value,) = mlir.emit("stablehlo.sine", list(operation.operands)).results
                operation.results[0].replace_all_uses_with(value)


def test_a_pass_that_miscompiles(folder, monkeypatch):
    monkeypatch.chdir(folder)
    source = Source(mlir.parse_module(LONG), "main")
    changed = checking.Changed(pipeline=[Miscompiles()])
    row = checking.try_alone("before = after", source, [0], changed=changed)
    assert (row.outcome, row.kind) == ("FAILED", "Failed")
    lines: list[str] = []
    failures.save_smallest(source, row, changed, 20, 60, "found", lines.append)
    assert lines
    text = (folder / "found.mlir").read_text()
    assert names(mlir.parse_module(text)) == ["stablehlo.cosine"]
    with np.load(folder / "found.npz") as inputs:
        assert [inputs[name].size for name in inputs] == [1]
    report = (folder / "found.md").read_text()
    assert "irax check found.mlir --inputs found.npz --pipeline miscompiles" in report


@pytest.mark.slow
def test_a_compiler_that_crashes(folder, monkeypatch):
    """It is a failure as any other, and what else is asked is answered."""
    right = checking.program

    def crashes(source, device, passes=None):
        if device == "cpu" and "stablehlo.tanh" in mlir.text_of(source.module.operation):
            os.kill(os.getpid(), signal.SIGABRT)
        return right(source, "reference")

    monkeypatch.setattr(checking, "program", crashes)
    monkeypatch.chdir(folder)
    source = Source(mlir.parse_module(LONG), "main")
    rows = {row.name: row for row in checking.check_source(source, 1, 0)}
    row = rows.pop("evaluator = IREE")
    assert (row.outcome, row.detail) == ("FAILED", "ends with SIGABRT")
    assert {row.outcome for row in rows.values()} == {"ok"}
    failures.save_smallest(source, row, checking.Changed(), 20, 60, "found", lambda line: None)
    assert names(mlir.parse_module((folder / "found.mlir").read_text())) == ["stablehlo.tanh"]


OR_OF_SUMS = """
func.func @main(%x: tensor<4x3xi1>, %y: tensor<4x3xi1>, %w: tensor<3xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4x3xi1>
  %1 = stablehlo.convert %0 : (tensor<4x3xi1>) -> tensor<4x3xf32>
  %2 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<4x3xf32>
  %4 = stablehlo.sine %3 : tensor<4x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}
"""


@pytest.mark.slow
def test_without_legalizations_there_are_reproductions(folder, irax):
    """IREE adds booleans modulo 2: see tests/upstream/add_of_booleans.mlir."""
    (folder / "or.mlir").write_text(OR_OF_SUMS)
    options = ("--lowering", "annotate,host", "--reduce", "-o", "found")
    done = irax("check", "or.mlir", *options)
    assert done.returncode == 1
    assert "evaluator = IREE          FAILED" in done.stdout
    module = mlir.parse_module((folder / "found.mlir").read_text())
    assert names(module) == ["stablehlo.add", "stablehlo.convert"]
    assert edits.elements(module) <= 16
    report = (folder / "found.md").read_text()
    assert "## As IREE's compiler gets it" in report
    assert "iree-compile lowered.mlir" in report
    again = irax("check", "found.mlir", "--inputs", "found.npz", "--lowering", "annotate,host")
    assert "evaluator = IREE          FAILED" in again.stdout


@pytest.mark.slow
def test_a_pass_of_another_package(folder, monkeypatch):
    """The one in examples/extension changes what is computed, as it says."""
    points = {"irax.ops": {"s": "irax_softsign.ops"}, "irax.passes": {"s": "irax_softsign.passes"}}
    environment = install(folder / "site", points)
    command = [*("check", "in.mlir", "--pipeline", "softsign-for-tanh"), "--reduce", "-o", "found"]
    done = subprocess.run(
        [sys.executable, "-m", "irax_tools.cli", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    module = mlir.parse_module((folder / "found.mlir").read_text())
    assert names(module) == ["stablehlo.tanh"]
