"""irax compile --save-stages and --from-stage: a compilation in files, taken up where it stands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.tools.conftest import MODULE

import irax as python
import irax_runtime
from irax_tools import dumps, programs, sources

INPUTS = ("--input", "4xf32=1,2,3,4", "--input", "4xf32=0.5")
X = np.array([1, 2, 3, 4], np.float32)


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stages")
    (folder / "in.mlir").write_text(MODULE)
    source = sources.load(str(folder / "in.mlir"))
    dumps.save_stages(source, "iree-cpu", str(folder / "stages"))
    return sorted((folder / "stages").iterdir())


def value(done):
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split()[1])


def test_stages(stages):
    names = [path.name.partition("-")[2].removesuffix(".mlir") for path in stages]
    assert names[:2] == ["read", "symbol-dce"]
    assert names[-1] == "iree-vm"
    for name in ("inline", "simplify", "legalize-target=iree-cpu", "loops", "iree-flow"):
        assert name in names
    headers = [path.read_text().partition("\n")[0] for path in stages]
    found = [json.loads(header.removeprefix("// irax stage: ")) for header in headers]
    assert {(about["target"], about["func"]) for about in found} == {("iree-cpu", "main")}
    before = found[names.index("simplify") - 1]["passes"]
    assert before.startswith("simplify,")
    assert found[names.index("simplify")]["passes"] == before.removeprefix("simplify,")
    assert found[-1]["phase"] == "vm"
    # A pass of the middle, and phases of IREE's from its beginning to its end.
    for name in ("inline", "iree-input", "iree-vm"):
        artefact = programs.compile_from_stage(str(stages[names.index(name)]))
        (found,) = irax_runtime.load(artefact)(X, np.full(4, 0.5, np.float32))
        np.testing.assert_allclose(found, np.tanh(X / 2).sum(), rtol=1e-6)


def test_commands(stages, folder, irax):
    done = irax("compile", "in.mlir", "--save-stages", "dir", "-o", "model.vmfb")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in stages} == {path.name for path in (folder / "dir").iterdir()}
    flow = next(path for path in (folder / "dir").iterdir() if path.name.endswith("iree-flow.mlir"))
    assert irax("compile", "--from-stage", str(flow), "-o", "again.vmfb").returncode == 0
    assert value(irax("run", "again.vmfb", *INPUTS)) == value(irax("run", "model.vmfb", *INPUTS))


def test_an_edited_stage(stages, folder, irax):
    (inlined,) = [path for path in stages if path.name.endswith("-inline.mlir")]
    edited = inlined.read_text().replace("stablehlo.tanh", "stablehlo.negate")
    (folder / "edited.mlir").write_text(edited)
    assert value(irax("run", "edited.mlir", *INPUTS)) == -5
    assert value(irax("run", "edited.mlir", *INPUTS, "--device", "reference")) == -5
    gradient = irax("grad", "edited.mlir", "--wrt", "0").stdout
    done = irax("run", "-", *INPUTS, "--device", "reference", stdin=gradient)
    assert done.stdout.splitlines()[1] == "[-0.5 -0.5 -0.5 -0.5]"
    function = python.ir.load(folder / "edited.mlir")
    assert python.jit(function)(X, X / 2) == -15
    np.testing.assert_array_equal(python.grad(function)(X, X), -X)


def test_other_files(stages, folder, irax):
    (folder / "damaged.mlir").write_text('// irax stage: {"after": 1\nmodule {}')
    first = stages[0].read_text().partition("\n")[0]
    (folder / "wrong.mlir").write_text(f"{first}\nmodule {{ nonsense }}")
    (folder / "phase.mlir").write_text(stages[-1].read_text().replace('"vm"', '"vn"', 1))
    for path, message in (
        ("in.mlir", "in.mlir: not a stage that `irax compile --save-stages` wrote"),
        ("damaged.mlir", "its first line does not say which stage it is"),
        ("wrong.mlir", "not a valid MLIR module"),
        ("phase.mlir", "IREE has no phase 'vn'"),
    ):
        done = irax("compile", "--from-stage", path, "-o", "out.vmfb")
        assert done.returncode == 1
        assert message in done.stderr
        assert "Traceback" not in done.stderr
        assert not (folder / "out.vmfb").exists()
    both = irax("compile", "in.mlir", "--from-stage", "damaged.mlir", "-o", "out.vmfb")
    assert both.returncode == 2
    nowhere = irax("compile", "in.mlir", "--save-stages", "in.mlir", "-o", "out.vmfb")
    assert nowhere.returncode == 1
    assert "in.mlir: cannot be written: File exists" in nowhere.stderr
