"""The stages that `irax show` records and prints."""

from __future__ import annotations

import doctest
import json
import os
import pty
import re
import subprocess
import sys
import webbrowser
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.tools import show_programs as programs

import irax
import irax.sparse
import irax_tools.show
from irax_compiler import api, locations, mlir
from irax_compiler.cost import cost_of
from irax_compiler.iree.phases import PHASES, phases
from irax_tools.cli import main
from irax_tools.show import terminal
from irax_tools.show.digits import judging
from irax_tools.show.lines import lines_of, number, operations_of
from irax_tools.show.model import Page, Stage
from irax_tools.show.record import record
from irax_tools.show.way import Way, walk

FOREIGN = Path(__file__).parents[1] / "foreign" / "exported"

REGIONS = """
func.func private @declared(tensor<f32>) -> tensor<f32>
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.reduce(%x init: %z) across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %0 = stablehlo.multiply %a, %b : tensor<f32>
      %1 = stablehlo.add %0, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  %r:2 = stablehlo.while(%i = %c, %y = %s) : tensor<i32>, tensor<f32>
    cond {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %k = "stablehlo.if"(%p) ({
        stablehlo.return %y : tensor<f32>
      }, {
        %t = stablehlo.tanh %y : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %j, %k : tensor<i32>, tensor<f32>
    }
  return %r#1 : tensor<f32>
}
"""


def spelled(name: str) -> str:
    """The text's name of an operation: `func.return` is `return`."""
    return name.removeprefix("func.") if name in ("func.return", "func.call") else name


def check_lines(module: mlir.Module) -> None:
    """Each operation begins on a line that names it, and ends where its indentation does."""
    operations = operations_of(module)
    names = [operation.name for operation in operations]
    number(operations)
    lines = lines_of(module)
    begun = [line.operation for line in lines if line.operation >= 0]
    assert begun == sorted(set(begun))
    for i, line in enumerate(lines):
        if line.operation < 0:
            continue
        assert spelled(names[line.operation]) in line.text
        indent = len(line.text) - len(line.text.lstrip())
        inside = lines[i + 1 : line.last]
        assert all(len(x.text) - len(x.text.lstrip()) >= indent for x in inside), line
        assert "loc(" not in line.text
        assert line.last == i or lines[line.last].text.lstrip().startswith("}")
    text = "\n".join(line.text for line in lines)
    written = Counter(re.findall(r'(?:^ *|= )"?(stablehlo\.\w+)', text, re.MULTILINE))
    assert written == Counter(names[i] for i in begun if names[i].startswith("stablehlo."))


def test_lines_of_regions():
    module = mlir.parse_module(REGIONS)
    operations = operations_of(module)
    number(operations)
    assert [x.operation for x in lines_of(module) if x.operation >= 0] == [*range(len(operations))]
    check_lines(mlir.parse_module(REGIONS))


@pytest.mark.parametrize("path", sorted(FOREIGN.glob("*.mlir"))[::5], ids=lambda path: path.stem)
def test_lines_of_foreign_modules(path):
    check_lines(mlir.parse_module(path.read_text()))


def test_frames():
    text = """
    func.func @main() {
      return loc(callsite(fused<"m">["jvp"("a.py":1:2), "b.py":3:4] at "vmap"("c.py":5:6)))
    }
    """
    module = mlir.parse_module(text)
    returns = mlir.terminator(mlir.body(mlir.functions(module)["main"]))
    found = locations.frames(returns.location)
    assert [(f.file, f.line, f.names) for f in found] == [
        ("a.py", 1, ("jvp",)),
        ("c.py", 5, ("vmap",)),
    ]
    assert locations.frames(mlir.UNKNOWN) == ()


def total(page: Page, stage: Stage) -> tuple[float, float, float]:
    bodies = [(page.bodies[i], calls) for i, calls in stage.bodies]
    kinds = ("flops", "transcendentals", "bytes")
    flops, elements, size = (sum(n * sum(getattr(b, k)) for b, n in bodies) for k in kinds)
    return flops, elements, size


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("make", "way"),
    [
        (programs.mlp, Way()),
        (programs.mlp, Way(grad=True, vmap=3, in_axes=(None,) * 4 + (0, 0))),
        (programs.scan, Way()),
    ],
    ids=["mlp", "vmap of grad", "scan"],
)
def test_costs_of_all_stages(make, way, tmp_path):
    source = make(tmp_path)
    page = programs.page_of(source, way)
    expected = []

    def keep(_step, _group, module, entry):
        expected.append(cost_of(module, entry) if entry else None)

    walk(make(tmp_path), way, keep)
    assert len(expected) == len(page.stages)
    for stage, cost in zip(page.stages, expected, strict=True):
        if cost is not None:
            assert total(page, stage) == (cost.flops, cost.transcendentals, cost.bytes)


def test_stages_of_derivatives(tmp_path):
    page = programs.page_of(programs.mlp(tmp_path), Way(grad=True, wrt=(0, 2), vmap=4))
    assert page.title == "vmap of grad of loss"
    groups = [stage.group for stage in page.stages]
    assert groups == sorted(groups, key=("trace", "derive", "lower").index)
    derived = [stage.full_name for stage in page.stages if stage.group == "derive"]
    assert derived[:3] == ["linearize{func=loss wrt=0,2}", "vjp", "grad"]
    assert "batch{size=4}" in derived
    last = page.stages[groups.index("lower") - 1]
    assert [page.bodies[i].name for i, _ in last.bodies] == ["main.batch"]


def test_operations_know_their_lines(tmp_path):
    page = programs.page_of(programs.mlp(tmp_path), Way(grad=True))
    assert [file.name for file in page.files] == ["mlp.py"]
    (stage,) = [s for s in page.stages if s.full_name == "annotate"]  # then come kernels
    (body,) = [page.bodies[i] for i, _ in stage.bodies]
    found = {
        page.locations[at][0][1]
        for name, at in zip(body.operation, body.location, strict=True)
        if name.startswith("stablehlo.dot_general")
    }
    assert found == {programs.DENSE}
    transformations = {name for at in page.locations for _, _, names in at for name in names}
    assert {"jvp", "transpose"} <= transformations
    assert page.files[0].shown == [(6, 13)]  # all of both functions


def test_text_of_a_module_is_its_source(tmp_path):
    page = programs.page_of(programs.twice(tmp_path), Way(passes=api.parse_pipeline("cse")))
    assert (page.files[0].name, page.files[0].language) == ("twice.mlir", "mlir")
    assert page.files[0].lines == programs.TWICE.splitlines()


REFUSED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @nonsense(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_a_pass_that_fails_ends_the_page(irax, folder):
    (folder / "refused.mlir").write_text(REFUSED)
    done = irax("show", "refused.mlir", "--html", "page.html")
    assert done.returncode == 1
    assert 'custom_call of "nonsense"' in done.stderr
    assert "not supported" in (folder / "page.html").read_text()
    assert "func.func @main" in show(folder / "refused.mlir", "--stage", "read").stdout


def test_text_with_sources_and_costs(tmp_path):
    page = programs.page_of(programs.mlp(tmp_path), Way())
    (name, text), *_ = terminal.texts_of(page)
    assert name == "traced"
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index(f"// mlp.py:{programs.DENSE}  return jnp.tanh(x @ w + b)")
    assert lines[at + 1].startswith("%0 = stablehlo.dot_general")
    assert lines[at + 1].endswith("  // 1.02k flops, 896 bytes")  # 2*16*8*4, 4*(64+32+128)
    mlir.parse_module(text)  # comments are all that was added
    plain = re.sub(r"\x1b\[\d+m", "", terminal.coloured(text))
    assert plain == text != terminal.coloured(text)


def show(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["show", str(path), *options])


def test_stages_that_change_nothing_are_not_repeated(folder):
    done = show(folder / "in.mlir")
    assert done.stdout.count("// ---- ") > 10 > done.stdout.count("func.func")
    assert "// ---- check{target=iree-cpu} ----\n// nothing changed\n" in done.stdout
    assert "func.func" in show(folder / "in.mlir", "--stage", "check").stdout


def printed_on_terminal(folder: Path, environment: dict[str, str], *options: str) -> str:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "irax_tools.cli", "show", "in.mlir", "--stage", "read"]
    process = subprocess.Popen(
        [*command, *options], cwd=folder, stdout=theirs, env={**os.environ, **environment}
    )
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 1 << 16):
            text += part
    except OSError:
        pass  # how Linux says that the other end is closed
    os.close(ours)
    assert process.wait() == 0
    return text.decode()


@pytest.mark.slow
def test_colours_are_for_terminals(folder):
    assert "\x1b[" in printed_on_terminal(folder, {"NO_COLOR": ""})
    assert "\x1b[" not in printed_on_terminal(folder, {"NO_COLOR": "1"})
    assert "\x1b[" not in show(folder / "in.mlir", "--stage", "read").stdout
    assert "\x1b[" in show(folder / "in.mlir", "--stage", "read", "--color", "always").stdout


def test_the_page_tells_where_it_is_and_opens(folder, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda address: shown.append(address) or True)
    page = folder / "page.html"
    done = show(folder / "in.mlir", "--html", str(page), "--stage", "cse")
    assert done.stderr == f"Wrote {page}\n"
    assert not done.stdout
    assert shown == []
    data = re.search(r'type="application/json">(.*?)</script>', page.read_text(), re.DOTALL)
    assert data is not None
    (model,) = json.loads(data[1])
    assert model["stages"][model["opens"]]["name"] == "cse"

    show(folder / "in.mlir", "--open")
    (address,) = shown
    assert Path(address.removeprefix("file://")).read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--wrt", "0"], 2, "--wrt goes with --grad or --sparsity"),
        (["--sparsity", "--stage", "cse"], 2, "--sparsity goes without --stage and --locations"),
        (["--sparsity", "--wrt", "7"], 1, "wrt=7: @main has 2 arguments"),
        (["--in-axes", "0"], 2, "--in-axes goes with --vmap"),
        (["--digits", "--locations"], 2, "--digits goes without --locations and --mesh"),
        (["--input", "f32=1"], 2, "--input and --inputs go with --digits"),
        (["--digits", "--input", "f32=1"], 1, "main takes 2 arguments, got 1"),
        (["--html", "x.html", "--locations"], 2, "--html writes a page of all stages"),
        (["--html", "x.html", "--stage", "no"], 2, "no stage 'no'; there are read, "),
        (["--html", "-", "--open"], 2, "--open shows a file"),
        (["--iree", "--device", "pjrt"], 2, "--iree goes with devices that IREE compiles for"),
        (["--html", "none/x.html"], 1, "none/x.html: cannot be written"),
        (["--grad", "--wrt", "7"], 1, "wrt=7: @main has 2 arguments"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_wrong_options(folder, options, code, message):
    done = show(folder / "in.mlir", *options)
    assert done.exit_code == code
    assert message in done.stderr


CHAIN = """
func.func @main(%x: tensor<64xf32>, %n: tensor<i32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:63] : (tensor<64xf32>) -> tensor<63xf32>
  %1 = stablehlo.slice %x [1:64] : (tensor<64xf32>) -> tensor<63xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<63xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<63xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<63xf32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}
"""


def test_patterns_of_derivatives(tmp_path):
    path = tmp_path / "chain.mlir"
    path.write_text(CHAIN)
    first, dots = show(path, "--sparsity", "--wrt", "0").stdout.splitlines()
    assert first == "Jacobian of main: 1 x 64, 64 elements, 1 color of rows"
    assert dots == "⠉" * 32
    done = show(path, "--sparsity", "--grad")
    expected = np.eye(64) + np.eye(64, k=1) + np.eye(64, k=-1)
    picture = irax.sparse.SparsityPattern.fromdense(expected).spy()
    told = "Hessian of main: 64 x 64, 190 elements, 3 colors of columns"
    assert done.stdout == f"{told}\n{picture}\n"
    lanes = show(path, "--sparsity", "--vmap", "2", "--in-axes", "0,None").stdout
    assert lanes.startswith("Jacobian of vmap of main: 2 x 128, 128 elements, 1 color of rows")
    page = tmp_path / "page.html"
    assert show(path, "--sparsity", "--grad", "--html", str(page)).exit_code == 0
    assert told.partition(": ")[2] in page.read_text()
    (tmp_path / "whole.mlir").write_text(
        "func.func @main(%n: tensor<i32>) -> tensor<i32> { return %n : tensor<i32> }"
    )
    done = show(tmp_path / "whole.mlir", "--sparsity")
    assert done.exit_code == 1
    assert "no argument of a floating-point or complex type" in done.stderr


@pytest.mark.slow
def test_phases_of_iree_keep_locations(tmp_path):
    page = programs.page_of(programs.mlp(tmp_path), Way(iree=True))
    assert [stage.name for stage in page.stages if stage.group == "iree"] == [*PHASES]
    assert [file.name for file in page.files] == ["mlp.py"]
    flow = next(stage for stage in page.stages if stage.name == "flow")
    lines = {
        (name, page.locations[at][0][1])
        for i, _ in flow.bodies
        for name, at in zip(page.bodies[i].operation, page.bodies[i].location, strict=True)
        if at >= 0
    }
    assert ("linalg.matmul", programs.DENSE) in lines
    assert ("arith.subf", programs.MEAN) in lines


def test_phases_of_a_module_that_iree_refuses():
    module = mlir.parse_module(REFUSED)
    with pytest.raises(RuntimeError, match="IREE could not compile"):
        list(phases(module))


@pytest.mark.parametrize("module", [irax_tools.show, terminal, locations])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_digits_of_lines(tmp_path):
    source = programs.roots(tmp_path)
    (page, _) = record(source, Way(), [judging(source, Way(), programs.ROOTS_ARGUMENTS)])
    text = dict(terminal.texts_of(page))["traced"]
    assert text.startswith("// result 0: 0.7 of 7.2  float32 -0.00024414062")
    assert re.search(r"// costs 6.\d digits; subtract cancels 24 bits\n.*stablehlo.subtract", text)
    assert page.digits is not None
    assert not page.digits.holds
    (worst, other) = page.digits.lines
    assert [x.frame[1] for x in (worst, other)] == [6, 5]
    assert page.files[worst.frame[0]].name == "roots.py"


def test_digits_of_what_is_derived(tmp_path):
    source, way = programs.roots(tmp_path), Way(grad=True, vmap=2)
    (page, failure) = record(source, way, [judging(source, way, [])])
    assert failure is None
    assert page.digits is not None
    assert [told.partition(":")[0].partition("[")[0] for told in page.digits.told] == [
        *("result 0", "result 1", "result 2")
    ]
