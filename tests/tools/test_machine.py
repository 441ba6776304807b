"""irax cache, doctor and bench, and files that cannot be read or written."""

from __future__ import annotations

import os
import re
import stat

import ml_dtypes
import numpy as np
import pytest


def test_cache(folder, irax, monkeypatch):
    kept = folder / "kept"
    monkeypatch.setenv("IRAX_CACHE_DIR", str(kept))
    assert ": 0 programs, 0 kernels, 0.0 MiB, of at most 2048 MiB" in irax("cache", "info").stdout
    assert irax("compile", "in.mlir", "-o", "m.vmfb").returncode == 0
    (kept / "irax-other").write_text("of no kind")
    text = irax("cache", "list").stdout
    assert re.search(r"^\S+ \S+ +\S+ k?B in 1 file    kernels of main$", text, re.M)
    assert re.search(r" files? +main \(in.mlir\) of f32\[4\], f32\[4\]$", text, re.M), text
    (kept / "irax-other").unlink()
    assert ": 0 programs, 0 kernels, 0.0 MiB, removed" in irax("cache", "prune").stdout
    assert "'big' is no size" in irax("cache", "prune", "--size", "big").stderr
    assert "--size is an option of prune" in irax("cache", "clear", "--size", "1MB").stderr
    (kept / "notes.txt").write_text("not a program")
    assert ": 1 programs, 1 kernels" in irax("cache", "prune", "--size", "1KB").stdout
    assert [path.name for path in kept.iterdir()] == ["notes.txt"]
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    assert irax("cache").stdout == "none are kept: IRAX_CACHE_DIR=off\n"
    assert irax("cache", "burn").returncode == 2


def test_the_list_of_the_cache_has_functions(folder, irax, monkeypatch):
    """A line has a function, its file, and the types of its arguments."""
    monkeypatch.setenv("IRAX_CACHE_DIR", str(folder / "kept"))
    (folder / "train.py").write_text("def step(x, n):\n    return x * 2 + n\n")
    for types in ("f32[2,3], i32[]", "f32[5], i32[]"):
        assert irax("compile", "train.py:step", "--args", types, "-o", "m.vmfb").returncode == 0
    lines = irax("cache", "list").stdout.splitlines()
    listed = [line.partition("step (")[2] for line in lines if "step (" in line]
    assert listed == ["train.py) of f32[2,3], i32[]", "train.py) of f32[5], i32[]"]


def test_doctor(irax, monkeypatch):
    done = irax("doctor")
    assert done.returncode == 0, done.stdout
    assert "ok  a program compiles, and runs on the processor" in done.stdout
    assert "!!" not in done.stdout
    assert "\n--  device " in done.stdout  # there is no machine with all of them
    monkeypatch.setenv("IRAX_BLAS", "off")
    without = irax("doctor")
    assert "ok  matrices are multiplied by IREE's own code: " in without.stdout


def test_doctor_names_the_versions_of_iree_that_irax_needs(monkeypatch):
    from irax_tools import doctor

    found = {"iree-base-compiler": "3.13.0", "iree-base-runtime": "3.12.0"}
    monkeypatch.setattr(doctor.metadata, "version", found.__getitem__)
    line, works = doctor._same_iree()
    assert not works
    assert re.search(r"two versions: pip install 'iree-base-compiler[\d<>=.,]+' 'iree-base-r", line)


def test_doctor_finds_what_is_wrong(monkeypatch):
    from irax_tools import doctor

    monkeypatch.setattr(doctor, "_PROGRAM", doctor._PROGRAM.replace(".add", ".subtract"))
    monkeypatch.setattr(doctor, "PACKAGES", ("irax-of-tomorrow",))
    wrong = [line for line, works in doctor.examine() if works is False]
    assert wrong[0] == "irax-of-tomorrow is missing: pip install irax-of-tomorrow"
    assert wrong[1].startswith("a program on the processor computes 1 + 1 = [0.")
    monkeypatch.setenv("IRAX_PLATFORMS", "cpu,abacus")
    wrong = [line for line, works in doctor.examine() if works is False]
    assert wrong[2].startswith("IRAX_PLATFORMS: no platform 'abacus' here; there are 'cpu'")
    monkeypatch.setenv("IRAX_NUM_THREADS", "many")
    wrong = [line for line, works in doctor.examine() if works is False]
    assert wrong[2] == "IRAX_NUM_THREADS=many: expected a number of threads, 1 or more"


def test_bench(irax):
    done = irax("bench", "in.mlir", "--repeat", "5", "--device", "reference")
    assert done.returncode == 0, done.stderr
    compiled, times, counted, rate, memory = done.stdout.splitlines()
    assert compiled.startswith("compile ")
    assert times.startswith("5 runs: min ")
    assert counted == "11 operations, 104 bytes moved by them"
    assert rate.endswith(" G operations a second")
    assert memory.startswith("peak memory: ")
    wrong = irax("bench", "in.mlir", "--input", "4xf32=1")
    assert wrong.returncode == 1
    assert "takes 2 arguments, got 1" in wrong.stderr


def test_outputs_are_all_there_or_not_at_all(folder, irax):
    before = sorted(os.listdir(folder))
    full = folder / "folder"
    full.mkdir()
    for output in ("folder", "none/out.mlir"):
        done = irax("grad", "in.mlir", "-o", output)
        assert done.returncode == 1
        assert f"{output}: cannot be written" in done.stderr
    assert sorted(os.listdir(folder)) == sorted([*before, "folder"])
    assert os.listdir(full) == []


def test_devices_and_permissions_stay(folder, irax):
    assert irax("grad", "in.mlir", "-o", os.devnull).returncode == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    out = folder / "out.mlir"
    out.write_text("old")
    out.chmod(0o640)
    assert irax("grad", "in.mlir", "-o", "out.mlir").returncode == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert irax("grad", "in.mlir", "-o", "new.mlir").returncode == 0
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((folder / "new.mlir").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_an_input_of_another_dtype(folder, irax, device):
    np.save(folder / "double.npy", np.ones(4))
    inputs = ("--input", "double.npy", "--input", "x.npy", "--output", "y.npy")
    done = irax("run", "in.mlir", *inputs, "--device", device)
    assert done.returncode == 1
    assert "argument 0" in done.stderr
    assert "float64" in done.stderr
    assert not (folder / "y.npy").exists()


def test_dtypes_that_are_not_numpys_own(folder, irax):
    text = """
    func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {
      %0 = stablehlo.add %x, %x : tensor<4xbf16>
      return %0 : tensor<4xbf16>
    }
    """
    doubled = ("run", "-", "--device", "reference", "--output", "y.npy", "--input")
    assert irax(*doubled, "4xbf16=1,2,3,4", stdin=text).returncode == 0
    refused = irax(*doubled, "y.npy", stdin=text)
    assert refused.returncode == 1
    assert "tell it, as in bf16=y.npy" in refused.stderr
    assert irax(*doubled, "bf16=y.npy", stdin=text).returncode == 0
    found = np.load(folder / "y.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(found.astype(float), [4, 8, 12, 16])
    other = irax(*doubled, "f32=y.npy", stdin=text)
    assert other.returncode == 1
    assert "--input f32=y.npy: the file has void16[4]" in other.stderr
    assert "the file has bfloat16[4]" in irax(*doubled, "3xbf16=y.npy", stdin=text).stderr


def test_damaged_files(folder, irax):
    from irax_compiler import mlir

    data = mlir.bytecode(mlir.parse_module((folder / "in.mlir").read_text()))
    (folder / "cut.mlirbc").write_bytes(data[: len(data) // 2])
    (folder / "noise.mlir").write_bytes(b"\xff\xfe\x00")
    for name, message in (("cut.mlirbc", "not a valid MLIR module"), ("noise.mlir", "neither")):
        done = irax("check", name)
        assert done.returncode == 1
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_phases_of_compiling(irax, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    done = irax("compile", "in.mlir", "--phases", "-o", "phases.vmfb")
    assert done.returncode == 0, done.stderr
    for line in ("lower main ", "target iree-cpu ", "  phase hal "):
        assert line in done.stderr
    done = irax("run", "phases.vmfb", "--phases", "--input", "4xf32=1", "--input", "4xf32=1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("load cpu:0 ")
