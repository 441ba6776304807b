"""Damaged files, interrupted commands, and what ends processes: one line, and nothing left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from irax_compiler import containers, mlir, trial

FOREIGN = Path(__file__).parents[1] / "foreign" / "exported"
HOW_MANY = int(os.environ.get("IRAX_DAMAGE", "2"))
"""Files to damage of each kind; `make fuzz` tries hundreds."""


def damaged(data: bytes, seed: int) -> bytes:
    chosen = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chosen.choice([1, 1, 2, 8])):
        changed[chosen.randrange(4, len(data))] = chosen.randrange(256)
    return bytes(changed[: chosen.randrange(len(data))] if chosen.random() < 0.2 else changed)


def check(done: subprocess.CompletedProcess[str]) -> None:
    """It worked, or told in one line why it did not."""
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "irax: error: " in done.stderr


@pytest.mark.parametrize("seed", range(HOW_MANY))
def test_bytecode(folder, irax, seed):
    files = [FOREIGN / "mlp.mlirbc", FOREIGN / "eigenvalues.mlirbc", FOREIGN / "sharded.mlirbc"]
    data = files[seed % 3].read_bytes()
    if seed % 4 == 0:
        data = mlir.bytecode(mlir.parse_module((FOREIGN / "rnn_scan.mlir").read_text()))
    (folder / "bad.mlirbc").write_bytes(damaged(data, seed))
    check(irax("opt", "bad.mlirbc", "-o", "out.mlir"))


@pytest.mark.parametrize(
    ("reader", "message"),
    [("kill -ABRT $$", "ends with SIGABRT"), ("exec sleep 60", "does not come to an end")],
)
def test_what_the_reader_does_not_survive(folder, monkeypatch, reader, message):
    path = folder / "reader"
    path.write_text(f"#!/bin/sh\n{reader}\n")
    path.chmod(0o755)
    monkeypatch.setattr(trial, "_reader", lambda: str(path))
    monkeypatch.setattr(trial, "_SECONDS", 0.2)
    with pytest.raises(ValueError, match=f"damaged bytecode, of which MLIR's reader {message}"):
        containers.module_in((FOREIGN / "mlp.mlirbc").read_bytes())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit memory")
def test_the_reader_has_little_memory(folder, monkeypatch):
    path = folder / "reader"
    path.write_text("#!/bin/sh\ntest $(ulimit -v) -lt 3000000 && exit 1\nkill -ABRT $$\n")
    path.chmod(0o755)
    monkeypatch.setattr(trial, "_reader", lambda: str(path))
    containers.module_in((FOREIGN / "mlp.mlirbc").read_bytes())


def test_programs(folder, irax):
    assert irax("compile", "in.mlir", "-o", "model.vmfb").returncode == 0
    data = (folder / "model.vmfb").read_bytes()
    inputs = ("--input", "4xf32=1", "--input", "4xf32=1")
    expected = irax("run", "model.vmfb", *inputs).stdout
    for seed in range(HOW_MANY):
        (folder / "bad.vmfb").write_bytes(damaged(data, seed))
        done = irax("run", "bad.vmfb", *inputs)
        check(done)
        assert done.returncode == 1 or done.stdout == expected


CUT = {
    ".vmfb": (b"", b"P", b"PK\x03\x04", bytes(100), b"hello\n"),
    ".irax": (b"", b"PK\x03\x04", bytes(100)),
    ".pjrt": (b"", b"// ir", b"// irax: {", b"// irax: []\n", bytes(100)),
    ".mlir": (b"", b"// nothing", b"func.func @", bytes(100)),
    ".mlirbc": (b"ML\xefR", b"ML\xefR" + bytes(100)),
}


@pytest.mark.parametrize("suffix", CUT)
def test_errors_name_the_file(folder, irax, suffix):
    for number, data in enumerate(CUT[suffix]):
        name = f"cut{number}{suffix}"
        (folder / name).write_bytes(data)
        commands = [("run", name), ("show", name)]
        if data not in (b"// nothing", b"// ir"):  # modules of no functions
            commands.append(("info", name))
        for command in commands:
            done = irax(*command)
            assert done.returncode == 1, (command, data)
            assert done.stderr.startswith(f"irax: error: {name}: "), done.stderr
            assert done.stderr.count("\n") == 1


def test_a_process_that_ends(folder, irax):
    (folder / "end.py").write_text(
        "import os, signal\ndef f(x):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    done = irax("grad", "end.py:f", "--args", "f32[]", "-o", "out.mlir")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("irax: error: the compiler or the device ended the process (SIGSEGV)")
    assert not (folder / "out.mlir").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_compilation(folder, number, code):
    lines = "".join(
        f"%{n + 1} = stablehlo.dot %{n}, %{n} : (tensor<64x64xf32>, tensor<64x64xf32>) -> "
        f"tensor<64x64xf32>\n%s{n} = stablehlo.sine %{n + 1} : tensor<64x64xf32>\n"
        for n in range(300)
    )
    head = "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
    first = "%0 = stablehlo.add %x, %x : tensor<64x64xf32>\n"
    (folder / "long.mlir").write_text(f"{head}{first}{lines}return %300 : tensor<64x64xf32>\n}}")
    before = sorted(os.listdir(folder))
    arguments = ("compile", "long.mlir", "-o", "long.vmfb")
    process = subprocess.Popen(
        [sys.executable, "-m", "irax_tools.cli", *arguments],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "IRAX_CACHE_DIR": "off"},
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("nothing tells here when the command has begun")
    while not children.read_text().strip():
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (code, "irax: interrupted\n")
    assert sorted(os.listdir(folder)) == before


def test_unfinished_objects_of_an_interrupted_command(tmp_path):
    (tmp_path / "command.py").write_text(
        "import os, signal, sys\n"
        "from irax_tools import guard\n"
        "class Unfinished:\n"
        "    def __init__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        self.address = None\n"
        "    def __del__(self):\n"
        "        self.address.close()\n"
        "def command():\n"
        "    try:\n"
        "        Unfinished()\n"
        "    except KeyboardInterrupt:\n"
        "        sys.exit(guard.INTERRUPTED)\n"
        "guard.run(command)\n"
    )
    done = subprocess.run(
        [sys.executable, "command.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (130, "irax: interrupted\n")


def test_a_full_disk(irax):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = irax("grad", "in.mlir", "-o", "/dev/full")
    assert done.returncode == 1
    assert done.stderr == "irax: error: /dev/full: cannot be written: No space left on device\n"
    for words in (["devices"], ["--help"]):
        command = [sys.executable, "-m", "irax_tools.cli", *words]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        assert done.stderr == "irax: error: [Errno 28] No space left on device\n"


def test_a_closed_output():
    words = [sys.executable, "-m", "irax_tools.cli", "--help"]
    done = subprocess.run(words, preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "told"),
    [('return {}["missing"] * x', "KeyError: 'missing'"), ("assert x is None", "AssertionError")],
)
def test_errors_whose_text_says_little(folder, irax, line, told):
    (folder / "says_little.py").write_text(f"def f(x):\n    {line}\n")
    done = irax("grad", "says_little.py:f", "--args", "f32[3]")
    assert done.returncode == 1
    assert done.stderr == f"irax: error: {told}\nat says_little.py:2: {line}\n"


def test_what_a_call_cannot_do(folder, irax):
    np.save(folder / "objects.npy", np.array([1, 2]))
    (folder / "objects.npy").write_bytes(b"\x93NUMPY\x01\x00" + b"\xff" * 30)
    done = irax("run", "in.mlir", "--input", "objects.npy", "--input", "x.npy")
    assert done.returncode == 1
    assert "--input objects.npy: not a .npy file" in done.stderr
