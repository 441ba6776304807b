"""The target iree-cpu: what it accepts, and what it says of what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.runtime.programs import elementwise, function

from irax_compiler import mlir
from irax_compiler.iree import compiler
from irax_compiler.iree.invocation import CompileError
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

FLAGS = CPU.flags_for()


@pytest.fixture(autouse=True)
def _compile_anew(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")


@pytest.mark.parametrize("form", [str, str.encode, lambda t: mlir.bytecode(mlir.parse_module(t))])
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_text_and_bytecode(form, type_):
    artefact = compiler.compile(form(elementwise("cosine", type_)), FLAGS)
    x = np.linspace(0, 1, 16).astype("f4" if type_ == "f32" else "f8")
    (result,) = cpu().load(artefact)([cpu().put(x)])
    np.testing.assert_allclose(result.numpy(), np.cos(x), rtol=1e-6)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("garbage", "custom op 'garbage'"),
        ("", "the module is empty"),
        (b"ML\xefR garbage", "could not compile"),
        (elementwise("sign_of"), r"stablehlo\.sign_of"),
        (elementwise("sine").replace("-> tensor<16xf32>", "-> tensor<5xf32>"), "return operand 0"),
    ],
)
def test_errors_are_diagnostics(module, message, capfd):
    with pytest.raises(CompileError, match=message) as caught:
        compiler.compile(module, FLAGS)
    assert len(str(caught.value)) < 2000
    assert not any(capfd.readouterr())
    assert compiler.compile(elementwise("negate"), FLAGS)  # and the process goes on


def test_errors_carry_source_locations(capfd):
    module = function(
        "(%x: tensor<4x4xf32>) -> tensor<4x4xf32>",
        """%0 = "stablehlo.cholesky"(%x) {lower = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
             loc("user.py":12:5)
           return %0 : tensor<4x4xf32>""",
    )
    with pytest.raises(CompileError, match=r"user\.py:12:5: failed to legalize .*choles"):
        compiler.compile(module, FLAGS)
    assert not any(capfd.readouterr())


def test_unknown_flags():
    with pytest.raises(ValueError, match="option not found: no-such-flag"):
        compiler.compile(elementwise("negate"), [*FLAGS, "--no-such-flag"])


def test_data_tiling():
    x = np.random.default_rng(0).normal(size=(128, 128)).astype("f")
    text = function(
        "(%x: tensor<128x128xf32>) -> tensor<128x128xf32>",
        """%0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
             : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
           return %0 : tensor<128x128xf32>""",
    )
    tiled = compiler.compile(text, FLAGS, data_tiling=True)
    assert tiled != compiler.compile(text, FLAGS)
    (result,) = cpu().load(tiled)([cpu().put(x)])
    np.testing.assert_allclose(result.numpy(), x @ x, rtol=1e-4, atol=1e-4)


def test_data_tiling_is_left_out_where_iree_cannot(monkeypatch):
    def refuse_tiling(module: bytes, flags: tuple[str, ...], **options: object) -> bytes:
        if set(compiler.DATA_TILING) & set(flags):
            raise CompileError("NYI")
        return b"untiled"

    monkeypatch.setattr(compiler, "_invoke_iree", refuse_tiling)
    assert compiler.compile("module", FLAGS, data_tiling=True) == b"untiled"


def test_importing_the_target_does_not_import_iree():
    source = "import sys, irax_compiler.iree.compiler; print('iree.compiler' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_compiling_imports_no_classes_of_operations(tmp_path: Path):
    """Classes of linalg take as long as compiling."""
    source = f"""
import sys
from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
module = lower(mlir.parse_module({elementwise("sine", "f32")!r}))
targets.compile(module, "iree-cpu")
print([x for x in sys.modules if x.startswith("iree.compiler.dialects.")])
"""
    environment = {**os.environ, "IRAX_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    imported = done.stdout.strip()
    assert "iree.compiler.dialects.builtin" in imported
    assert not any(x in imported for x in ("arith", "linalg", "stream", "util"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_compiles():
    """IREE's threads are not there any more."""
    code = f"""
import os
from irax_compiler.targets.cpu import CPU
for number in range(2):
    CPU.compile_text({elementwise("sine", "f32")!r})
    if number == 0 and os.fork():
        break
else:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout.strip()) == (0, "7"), done.stderr
