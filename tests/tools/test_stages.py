"""irax compile --save-stages and --from-stage: a compilation in files, taken up where it stands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.tools.conftest import MODULE

import irax as python
import irax_runtime
from irax_tools import derive, dumps, programs, sources

X = np.array([1, 2, 3, 4], np.float32)


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stages")
    (folder / "in.mlir").write_text(MODULE)
    source = sources.load(str(folder / "in.mlir"))
    dumps.save_stages(source, "iree-cpu", str(folder / "stages"))
    return sorted((folder / "stages").iterdir())


@pytest.mark.slow
def test_stages(stages):
    names = [path.name.partition("-")[2].removesuffix(".mlir") for path in stages]
    assert names[:2] == ["read", "symbol-dce"]
    assert names[-1] == "iree-vm"
    legalized = "legalize-target=iree-cpu-loops=later"
    for name in ("inline", "simplify", legalized, "loops", "iree-flow"):
        assert name in names
    headers = [path.read_text().partition("\n")[0] for path in stages]
    found = [json.loads(header.removeprefix("// irax stage: ")) for header in headers]
    assert {(about["target"], about["func"]) for about in found} == {("iree-cpu", "main")}
    before = found[names.index("simplify") - 1]["passes"]
    assert before.startswith("simplify,")
    assert found[names.index("simplify")]["passes"] == before.removeprefix("simplify,")
    assert found[-1]["phase"] == "vm"
    # A pass of the middle, and phases of IREE's.
    for name in ("inline", "iree-stream", "iree-vm"):
        artefact = programs.compile_from_stage(str(stages[names.index(name)]))
        (found,) = irax_runtime.load(artefact)(X, np.full(4, 0.5, np.float32))
        np.testing.assert_allclose(found, np.tanh(X / 2).sum(), rtol=1e-6)


@pytest.mark.slow
def test_a_program_that_calls_a_library(tmp_path):
    product = "func.func @main(%x: {0}, %y: {0}) -> {0} {{ {1} return %0 : {0} }}"
    multiply = "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ({0}, {0}) -> {0}"
    type_ = "tensor<100x100xf64>"
    (tmp_path / "in.mlir").write_text(product.format(type_, multiply.format(type_) + "\n"))
    dumps.save_stages(sources.load(str(tmp_path / "in.mlir")), "iree-cpu", str(tmp_path / "stages"))
    stages = sorted((tmp_path / "stages").iterdir())
    assert stages[-1].name.endswith("iree-vm.mlir")
    artefact = programs.compile_from_stage(str(stages[-1]))
    x = np.random.default_rng(0).standard_normal((100, 100))
    np.testing.assert_allclose(irax_runtime.load(artefact)(x, x)[0], x @ x, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
def test_an_edited_stage(stages, tmp_path):
    inlined = next(path for path in stages if path.name.endswith("-inline.mlir"))
    edited = inlined.read_text().replace("stablehlo.tanh", "stablehlo.negate")
    path = tmp_path / "edited.mlir"
    path.write_text(edited)
    for device in ("cpu", "reference"):
        call, _ = programs.load_program(str(path), None, None, device)
        assert call([X, X / 2]) == [-15]
    gradient = derive.grad(sources.load(str(path)), [0])
    np.testing.assert_array_equal(programs.program(gradient, "reference")([X, X])[0], -X)
    function = python.ir.load(path, device="reference")
    assert python.jit(function)(X, X / 2) == -15
    np.testing.assert_array_equal(python.grad(function)(X, X), -X)


def test_other_files(stages, folder):
    (folder / "damaged.mlir").write_text('// irax stage: {"after": 1\nmodule {}')
    first = stages[0].read_text().partition("\n")[0]
    (folder / "wrong.mlir").write_text(f"{first}\nmodule {{ nonsense }}")
    (folder / "phase.mlir").write_text(stages[-1].read_text().replace('"vm"', '"vn"', 1))
    for name, message in (
        ("in.mlir", "in.mlir: not a stage that `irax compile --save-stages` wrote"),
        ("damaged.mlir", "its first line does not say which stage it is"),
        ("wrong.mlir", "not a valid MLIR module"),
        ("phase.mlir", "IREE has no phase 'vn'"),
    ):
        with pytest.raises(ValueError, match=message):
            programs.compile_from_stage(str(folder / name))
    with pytest.raises(ValueError, match=r"in.mlir: cannot be written: File exists"):
        dumps.save_stages(sources.load(str(stages[0])), "iree-cpu", str(folder / "in.mlir"))


def test_the_command(folder, irax):
    """The command prints the list; docs/command_line.md shows that it works."""
    both = irax("compile", "in.mlir", "--from-stage", "in.mlir", "-o", "out.vmfb")
    assert both.returncode == 2
    assert "--from-stage goes without a MODULE" in both.stderr
    none = irax("compile", "--from-stage", "in.mlir", "-o", "out.vmfb")
    assert none.returncode == 1
    assert none.stderr.startswith("irax: error: in.mlir: not a stage")
    assert not (folder / "out.vmfb").exists()
