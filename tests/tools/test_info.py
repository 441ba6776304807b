"""irax info tells what is in files, and runs nothing of it; what is wrong with them is one line."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import iree.runtime as rt
import numpy as np
import pytest
from tests.runtime.test_archives import claiming

from irax_runtime import archives, exported
from irax_tools import info

FOREIGN = Path(__file__).parents[1] / "foreign" / "exported"
FUNCTION = """
import irax.numpy as jnp
def step(state, x):
    return {"a": state["a"] * x}, jnp.sum(x)
"""
ARGUMENTS = ("--args", "{'a': f32[3]}, f32[3]")


@pytest.fixture
def step(folder, irax) -> Path:
    """A file of irax's."""
    (folder / "step.py").write_text(FUNCTION)
    assert irax("compile", "step.py:step", *ARGUMENTS, "-o", "step.irax").returncode == 0
    return folder / "step.irax"


def test_a_function_in_a_file(step, irax):
    told = irax("info", "step.irax").stdout.splitlines()
    size = step.stat().st_size
    assert told[0] == f"step.irax: an exported function, {size} bytes"
    assert told[1] == "  step({'a': float32[3]}, float32[3]) -> ({'a': float32[3]}, float32[])"
    assert re.fullmatch(r"  iree-cpu.vmfb, \d+ bytes: for iree-cpu, native code, .*", told[4])
    assert told[5].startswith("  @step(tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<f32")


def test_what_is_compiled(folder, irax):
    assert irax("compile", "in.mlir", "-o", "m.vmfb").returncode == 0
    assert irax("compile", "in.mlir", "--device", "pjrt", "-o", "m.pjrt").returncode == 0
    signature = "  main(float32[4], float32[4]) -> (float32[])"
    told = irax("info", "m.vmfb").stdout.splitlines()
    assert told[0].startswith("m.vmfb: a compiled program of IREE's, ")
    assert told[1] == signature
    assert told[-1] == f"  {info.NATIVE}"
    told = irax("info", "m.pjrt").stdout.splitlines()
    assert told[0].startswith("m.pjrt: a program for PJRT, ")
    assert told[1] == signature
    assert not any(info.NATIVE in line for line in told)
    text = (folder / "m.pjrt").read_text()
    serialized = text.replace("{", '{"serialized": ["cpu", "1"], ', 1)
    assert f"  compiled by cpu 1: {info.NATIVE}" in info.describe(serialized.encode(), "m")


def test_no_native_code_is_loaded(step, monkeypatch):
    def load(*_):
        raise AssertionError("loaded")

    for name in ("VmContext", "create_hal_module", "get_driver"):
        monkeypatch.setattr(rt, name, load)
    program = archives.read(step.read_bytes(), "step.irax")["iree-cpu.vmfb"]
    for data in (step.read_bytes(), program):
        assert any(info.NATIVE in line for line in info.describe(data, "step"))


def test_modules(irax, folder):
    expected = [
        f"in.mlir: MLIR text, {(folder / 'in.mlir').stat().st_size} bytes",
        "  @main(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>: 7 operations",
    ]
    assert irax("info", "in.mlir").stdout.splitlines()[:2] == expected
    assert irax("info", "-", stdin=(folder / "in.mlir").read_text()).stdout.startswith("-: MLIR")
    told = info.describe((FOREIGN / "eigenvalues.mlirbc").read_bytes(), "e")
    assert told[0].startswith("e: MLIR bytecode, ")
    assert 'custom calls: "lapack' in told[-1]


def test_stages(irax):
    assert irax("compile", "in.mlir", "--save-stages", "s", "-o", "m.vmfb").returncode == 0
    told = irax("info", "s/07-inline.mlir").stdout.splitlines()
    assert told[0].startswith("s/07-inline.mlir: a stage of a compilation for iree-cpu, ")
    assert told[1:] == ["  after inline"]


def test_arrays(folder, irax):
    objects = np.array([None])
    np.savez(folder / "all.npz", a=np.ones((2, 3), np.int8), b=objects)
    told = irax("info", "all.npz").stdout.splitlines()[1:]
    assert told == ["  a: int8[2, 3]", "  b: objects, which irax does not load"]
    assert irax("info", "x.npy").stdout.splitlines()[1:] == ["  float32[4]"]
    assert irax("check", "in.mlir", "--inputs", "all.npz").returncode == 1


def test_python_programs_are_named_as_such(folder, irax):
    (folder / "p.py").write_text(FUNCTION)
    for command in ("info", "opt"):
        done = irax(command, "p.py")
        assert done.returncode
        assert "p.py: a Python program; expected " in done.stderr
        assert "irax show p.py:FUNCTION" in done.stderr


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"what is this", 'bad: not a valid MLIR module: loc("bad":1:1)'),
        (b"what is this", "; expected MLIR, a .vmfb, .pjrt or .irax file, "),
        (b"", "bad: empty; expected a module"),
        (b"PK\x03\x04" + bytes(50), "bad: not a compiled program, or damaged: "),
        (claiming(1 << 31), "bytes claim to hold 2147483648; expected at most 1 GiB"),
        (b"\x93NUMPY\x01\x00\xff\xff", "bad: its header is damaged"),
        (b"\x93NUMPY\x09\x00", "bad: its header is damaged"),
        (b"// irax: []\n", "bad: not a program for a PJRT device"),
        (b"func.func @f(", "bad: not a valid MLIR module"),
    ],
)
def test_what_is_wrong_is_one_line(folder, irax, data, message):
    (folder / "bad").write_bytes(data)
    done = irax("info", "bad")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert done.stderr.startswith("irax: error: ")
    assert done.stderr.count("\n") == 1


def test_a_bomb_of_arrays(folder, irax):
    (folder / "bomb.npz").write_bytes(claiming(3 << 30, "arr_0.npy"))
    done = irax("check", "in.mlir", "--inputs", "bomb.npz")
    assert done.returncode == 1
    assert "--inputs bomb.npz: not a .npz file, or damaged: its " in done.stderr
    assert "bytes claim to hold 3221225472; expected at most 1 GiB more" in done.stderr
    with zipfile.ZipFile(folder / "cut.npz", "w") as archive:
        archive.writestr("x.npy", (folder / "x.npy").read_bytes()[:-3])
    done = irax("check", "in.mlir", "--inputs", "cut.npz")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "--inputs cut.npz: not a .npz file, or damaged: " in done.stderr


def test_names_move_no_cursor(folder, irax, step):
    text = (folder / "in.mlir").read_text()
    evil = text.replace("@main", r'@"ev\1B[2Jil"').replace(
        "return %r : tensor<f32>", 'return %r : tensor<f32> loc("ev\x1b[2Jil.py":1:1)'
    )
    (folder / "evil.mlir").write_text(evil)
    contents = archives.read(step.read_bytes(), "step.irax")
    manifest = json.loads(contents[exported.MANIFEST]) | {"name": "ev\x1b[2Jil"}
    named = contents | {exported.MANIFEST: json.dumps(manifest).encode(), "ev\x1b[2Jil": b""}
    (folder / "evil.irax").write_bytes(exported.write(named))
    for command in (
        ("info", "evil.mlir"),
        ("show", "evil.mlir", "--locations"),
        ("show", "evil.mlir"),
        ("run", "evil.mlir", "--input", "f32=1", "--device", "reference"),
        ("info", "evil.irax"),
        ("run", "evil.irax"),
    ):
        done = irax(*command)
        assert "\x1b" not in done.stdout + done.stderr, command
        assert re.search(r"evil|ev\\(x1b|1B)\[2Jil", done.stdout + done.stderr), command
