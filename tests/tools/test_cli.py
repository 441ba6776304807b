"""The irax command, through a real command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from tests.runtime.pjrt.pjrt_programs import needs_plugin

from irax_compiler import blas

DIGITS = Path(__file__).parents[2] / "examples" / "digits.py"


def test_help_imports_no_compiler():
    code = (
        "import sys; from irax_tools.cli import main; main(['--help'], standalone_mode=False);"
        "print([m for m in ('numpy', 'irax', 'iree', 'irax_compiler') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stdout.strip().endswith("[]")


def test_opt(irax, folder):
    pipeline = "vjp{func=main wrt=0},inline,simplify,canonicalize,cse"
    done = irax("opt", "in.mlir", "--pipeline", pipeline)
    assert done.returncode == 0
    assert "func.func @main.vjp" in done.stdout
    piped = irax(
        "opt", "-", "--pipeline", pipeline, "-o", "out.mlir", stdin=(folder / "in.mlir").read_text()
    )
    assert piped.returncode == 0
    assert (folder / "out.mlir").read_text() == done.stdout


@pytest.mark.parametrize(
    "command",
    [("opt", "--passes"), ("show", "--pipeline"), ("check", "--pipeline"), ("check", "--lowering")],
)
def test_passes_that_are_unknown_are_errors_before_any_runs(irax, command):
    name, option = command
    done = irax(name, "in.mlir", option, "simplify,simplfy")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("irax: error: ")
    assert "unknown pass 'simplfy': did you mean 'simplify'? It is neither one of" in done.stderr
    assert len(done.stderr) < 200


def test_opt_lists_passes(irax):
    done = irax("opt", "--list-passes")
    assert done.returncode == 0
    for name in ("jvp", "linearize", "transpose", "vjp", "batch", "simplify", "legalize"):
        assert f"\n{name}\n" in f"\n{done.stdout}"
    assert "wrt" in done.stdout


@pytest.mark.parametrize(
    "device", ["cpu", "reference", pytest.param("pjrt:cpu", marks=needs_plugin)]
)
def test_run(irax, device, folder):
    w = np.array([1, -2, 3, 0.5], np.float32)
    np.save(folder / "w.npy", w)
    inputs = ("--input", "4xf32=0.5", "--input", "w.npy")
    done = irax("run", "in.mlir", *inputs, "--device", device)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("float32[]\n")
    np.testing.assert_allclose(float(done.stdout.split()[1]), np.tanh(w / 2).sum(), rtol=1e-5)
    saved = irax("run", "in.mlir", *inputs, "--device", device, "--output", "y.npy")
    assert saved.returncode == 0
    np.testing.assert_allclose(np.load(folder / "y.npy"), np.tanh(w / 2).sum(), rtol=1e-5)


def test_compile_then_run(irax, folder):
    assert irax("compile", "in.mlir", "-o", "model.vmfb").returncode == 0
    done = irax(
        *("run", "model.vmfb", "--input", "4xf32=1,2,3,4", "--input", "4xf32=1", "--repeat", "3")
    )
    assert done.returncode == 0, done.stderr
    expected = np.tanh([1.0, 2.0, 3.0, 4.0]).sum()
    np.testing.assert_allclose(float(done.stdout.split()[1]), expected, rtol=1e-5)
    assert "3 runs: min" in done.stderr
    (folder / "cut.vmfb").write_bytes((folder / "model.vmfb").read_bytes()[:100])
    broken = irax("run", "cut.vmfb", "--input", "4xf32=1", "--input", "4xf32=1")
    assert broken.returncode == 1
    assert "cut.vmfb: not a compiled program, or damaged: " in broken.stderr


FACTOR = """
func.func @main(%x: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %i = stablehlo.iota dim = 0 : tensor<100x100xi32>
  %j = stablehlo.iota dim = 1 : tensor<100x100xi32>
  %diagonal = stablehlo.compare EQ, %i, %j
    : (tensor<100x100xi32>, tensor<100x100xi32>) -> tensor<100x100xi1>
  %zero = stablehlo.constant dense<0.0> : tensor<100x100xf32>
  %0 = stablehlo.select %diagonal, %x, %zero : tensor<100x100xi1>, tensor<100x100xf32>
  %1 = stablehlo.cholesky %0, lower = true : tensor<100x100xf32>
  return %1 : tensor<100x100xf32>
}
"""


@pytest.mark.skipif(blas.library() is None, reason=f"{blas.PACKAGE} is not installed")
def test_compile_without_blas(irax, folder):
    (folder / "factor.mlir").write_text(FACTOR)
    for options, needed in (([], True), (["--no-blas"], False)):
        done = irax("compile", "factor.mlir", *options, "-o", "factor.vmfb")
        assert done.returncode == 0, done.stderr
        assert (f"needs {blas.PACKAGE}" in irax("info", "factor.vmfb").stdout) is needed
        result = irax("run", "factor.vmfb", "--input", "100x100xf32=25", "--output", "y.npy")
        assert result.returncode == 0, result.stderr
        np.testing.assert_array_equal(np.load(folder / "y.npy"), 5 * np.eye(100))


def test_show_of_a_python_function(irax):
    params = "[{'w': f32[64,16], 'b': f32[16]}, {'w': f32[16,10], 'b': f32[10]}]"
    arguments = f"{params}, f32[8,64], i32[8]"
    done = irax("show", f"{DIGITS}:loss", "--args", arguments)
    assert done.returncode == 0, done.stderr
    for stage in ("traced", "inline", "simplify", "legalize{target=iree-cpu loops=now}", "cse"):
        assert f"// ---- {stage} ----" in done.stdout
    traced = irax("show", f"{DIGITS}:loss", "--args", arguments, "--stage", "traced", "--locations")
    assert "// ----" not in traced.stdout
    assert "digits.py" in traced.stdout
    legalized = irax(
        "show", f"{DIGITS}:predict", "--args", f"{params}, f32[8,64]", "--stage", "legalize"
    )
    assert "func.func public @predict" in legalized.stdout


def test_show_of_a_module(irax):
    done = irax("show", "in.mlir", "--pipeline", "jvp{func=main},cse", "--stage", "jvp")
    assert done.returncode == 0, done.stderr
    assert "@main.jvp" in done.stdout


SHARDED = """
import irax

def total(x):
    return irax.pmap(lambda row: irax.lax.psum(row, "i"), "i", out_axes=None)(x)

def layer(x, w):
    return x @ w

layer = irax.jit(layer, in_shardings=(irax.P("data"), irax.P(None, "model")))
"""


def test_several_devices(irax, folder):
    (folder / "sharded.py").write_text(SHARDED)
    total = ("sharded.py:total", "--args", "f32[4,2]", "--input", "4x2xf32=1,2,3,4,5,6,7,8")
    done = irax("run", "--devices", "4", *total)
    assert done.stdout == "float32[2]\n[16. 20.]\n", done.stderr
    done = irax("run", "--devices", "2", *total)
    assert "takes 4 devices, got 2" in done.stderr
    done = irax("run", "--devices", "4", *total[:-2])
    assert "total takes 1 arrays, got 0" in done.stderr
    done = irax("run", "--devices", "4", "in.mlir")
    assert "in.mlir is a program of one device" in done.stderr
    layer = ("--mesh", "data=4,model=2", "sharded.py:layer", "--args", "f32[8,64], f32[64,6]")
    done = irax("show", *layer, "--stage", "partition")
    assert "(%arg0: tensor<2x64xf32>, %arg1: tensor<64x3xf32>) -> tensor<2x3xf32>" in done.stdout
    done = irax("compile", *layer, "-o", "layer.vmfb")
    assert done.returncode == 0, done.stderr
    assert "float32[2,64]" in irax("info", "layer.vmfb").stdout
    given = ("--input", "8x64xf32=1", "--input", "64x6xf32=2", "-o", "product.npz")
    done = irax("run", "layer.vmfb", "--devices", "8", *given)
    assert done.returncode == 0, done.stderr
    (product,) = np.load(folder / "product.npz").values()
    np.testing.assert_array_equal(product, np.full((8, 6), 128))
    assert "8 devices (data=4,model=2)" in irax("run", "layer.vmfb", *given).stderr
    done = irax("show", "--mesh", "data=4,data=2", *layer[2:])
    assert "expected names and sizes such as data=4,model=2" in done.stderr


@pytest.mark.parametrize("options", ["cuda --chip sm_89", "metal"])
def test_compile_for_other_devices(irax, folder, options):
    done = irax("compile", "in.mlir", "--device", *options.split(), "-o", "m.vmfb")
    assert done.returncode == 0, done.stderr
    assert (folder / "m.vmfb").stat().st_size > 1000
    refused = irax("run", "m.vmfb", "--input", "4xf32=0", "--input", "4xf32=1")
    assert refused.returncode == FAILURE
    assert refused.stderr.startswith("irax: error: ")


@needs_plugin
def test_compile_for_pjrt(irax, folder):
    done = irax("compile", "in.mlir", "--device", "pjrt", "-o", "m.pjrt")
    assert done.returncode == 0, done.stderr
    first = (folder / "m.pjrt").read_text().splitlines()[0]
    assert first == (
        '// irax: {"name": "main", "args": "f32[4];f32[4]", "results": "f32[]", "takes": "moments"}'
    )
    inputs = ("--input", "4xf32=0", "--input", "4xf32=1")
    assert irax("run", "m.pjrt", *inputs, "--device", "pjrt:cpu").stdout == "float32[]\n0.0\n"
    refused = irax("run", "m.pjrt", *inputs)
    assert "not a compiled IREE module" in refused.stderr
    assert refused.returncode == FAILURE


TWO_RESULTS = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = stablehlo.convert %y : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  %2 = stablehlo.negate %y : tensor<4xbf16>
  return %1, %2 : tensor<4xf32>, tensor<4xbf16>
}
"""


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_all_arguments_and_all_results_in_a_file(folder, irax, device):
    (folder / "two.mlir").write_text(TWO_RESULTS)
    x, y = np.arange(4, dtype=np.float32), np.ones(4, ml_dtypes.bfloat16)
    np.savez(folder / "arguments.npz", x, y)
    options = ("--device", device, "--shape", "-o", "results.npz")
    done = irax("run", "two.mlir", "--inputs", "arguments.npz", *options)
    assert done.stdout == "float32[4]\nbfloat16[4]\n"
    again = irax("run", "two.mlir", "--inputs", "results.npz", *options)
    assert again.returncode == 0, again.stderr
    with np.load(folder / "results.npz") as results:
        np.testing.assert_array_equal(results["arr_0"], x)
        np.testing.assert_array_equal(results["arr_1"].view(ml_dtypes.bfloat16), y)


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.array(["a", "b"]), "arr_0 has elements of <U1; expected numbers or booleans"),
        (np.zeros(2, "M8[s]"), "arr_0 has elements of datetime64[s]; expected numbers"),
        (np.zeros(2, [("a", "f4")]), "arr_0 has elements of [('a', '<f4')]; expected numbers"),
    ],
)
def test_files_of_other_things_than_numbers(folder, irax, array, told):
    np.savez(folder / "arguments.npz", array)
    done = irax("run", "in.mlir", "--inputs", "arguments.npz")
    assert done.returncode == 1
    assert f"--inputs arguments.npz: {told}" in done.stderr


def test_an_argument_beyond_all_memory(irax):
    done = irax("run", "in.mlir", "--input", "99999999999x99999999xf32=1")
    assert done.returncode == 2
    assert "--input '99999999999x99999999xf32=1': more bytes than" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--inputs", "a.npz", "--input", "f32=1"], "--inputs FILE.npz has all arguments"),
        (["--outputs", "a.npz", "--output", "y.npy"], "--outputs FILE.npz has all results"),
    ],
)
def test_files_of_all_and_files_of_each(irax, options, message):
    done = irax("run", "in.mlir", *options)
    assert done.returncode == 2
    assert message in done.stderr


@needs_plugin
def test_devices(irax):
    lines = irax("devices").stdout.splitlines()
    gib = r"\d+\.\d GiB"
    assert re.fullmatch(rf"cpu          0: cpu, IREE 3\.\d+\S*, {gib}", lines[0])
    (pjrt,) = [line for line in lines if line.startswith("pjrt:cpu")]
    assert re.fullmatch(rf"pjrt:cpu     0: cpu, xla_cpu_pjrt\.so, PJRT 0\.\d+, {gib}", pjrt)
    (tpu,) = [line for line in lines if line.startswith("tpu")]
    assert "pip install libtpu" in tpu or "no TPU" in tpu or ": TPU" in tpu
    (cuda,) = [line for line in lines if line.startswith("pjrt:cuda")]
    assert "pip install jax-cuda13-pjrt" in cuda or ": NVIDIA" in cuda
    assert {"cuda", "hip", "vulkan"} <= {line.split()[0] for line in lines}


USAGE, FAILURE = 2, 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "none.mlir"], USAGE, "none.mlir: No such file"),
        (["run", "in.mlir", "--input", "4xf32=1,2"], USAGE, "expected 1 value or 4"),
        (["run", "in.mlir", "--input", "4xf99=1"], USAGE, "unknown element type 'f99'"),
        (["run", "in.mlir", "--input", "4xf32=one"], USAGE, "are not numbers"),
        (["run", "in.mlir", "--input", "4xu8=256"], USAGE, "expected values from 0 to 255"),
        (["run", "in.mlir", "--input", "4xi4=-9"], USAGE, "expected values from -8 to 7"),
        (["run", "in.mlir", "--input", "none.npy"], USAGE, "no such file"),
        (["run", "in.mlir", "--repeat", "0"], USAGE, "at least 1"),
        (["run", "in.mlir", "--device", "toaster"], FAILURE, "no platform 'toaster' here"),
        (
            ["run", "in.mlir", "--input", "4xf32=1"],
            FAILURE,
            "takes 2 arguments, got 1; expected float32[4], ",
        ),
        (
            ["run", "in.mlir", "--input", "5xf32=1", "--input", "4xf32=1"],
            FAILURE,
            "argument 0 has shape (5,)",
        ),
        (
            ["run", "in.mlir", "--device", "reference", "--input", "4xi32=1", "--input", "4xf32=1"],
            FAILURE,
            "argument 0 is int32[4]; expected tensor<4xf32>",
        ),
        (["run", "in.mlir", "--func", "other"], FAILURE, "no function @other; it has @main"),
        (["opt", "bad.mlir"], FAILURE, "not a valid MLIR module"),
        (["opt", "in.mlir", "--pipeline", "nonsense"], FAILURE, "unknown pass 'nonsense'"),
        (["opt", "in.mlir", "--pipeline", "vjp{wrt=9}"], FAILURE, "@main has 2 arguments"),
        (["opt", "in.mlir", "--pipeline", "vjp{of=1}"], FAILURE, "unknown option 'of'"),
        (["opt", "in.mlir", "-o", "none/out.mlir"], FAILURE, "cannot be written"),
        (["compile", "in.mlir", "-o", "m.vmfb", "--device", "toaster"], USAGE, "no platform"),
        (
            ["compile", "in.mlir", "-o", "m.vmfb", "--device", "cuda", "--chip", "sm_90"],
            USAGE,
            "programs for sm_80 run on newer chips",
        ),
        (
            ["compile", "in.mlir", "-o", "m.vmfb", "--device", "metal", "--chip", "m1"],
            USAGE,
            "no chips",
        ),
        (
            ["compile", "in.mlir", "-o", "m.pjrt", "--device", "pjrt", "--chip", "v5e"],
            USAGE,
            "PJRT",
        ),
        (
            ["show", "in.mlir", "--stage", "zzz"],
            USAGE,
            "no stage 'zzz'; there are read, symbol-dce",
        ),
        (["show", f"{DIGITS}:nothing"], USAGE, "has no function 'nothing'; it has"),
        (["show", f"{DIGITS}:loss", "--args", "f32[8"], USAGE, "expected types such as f32[8,64]"),
        (["show", f"{DIGITS}:jnp", "--args", "f32[]"], USAGE, "no function 'jnp': it is of type"),
        (["show", "imports.py:f"], FAILURE, "at imports.py:1: import nothing_of_this_name"),
        (["grad", "calls.py:f", "--args", "f32[3]"], FAILURE, "lax.rev: dimensions is 0; "),
        (
            ["info", "op.mlir"],
            FAILURE,
            "'stablehlo.sin' is unknown: did you mean 'stablehlo.sine'?",
        ),
        (["run", "in.mlir", "--input", "@no.npy"], USAGE, "no.npy: no such file"),
        (["run", "in.mlir", "--input", "4xg32=1"], USAGE, "unknown element type 'g32': did you"),
        (["explain", "f.py:f"], USAGE, "'explain': irax.explain(f) is a function of Python's"),
        (["frobnicate"], USAGE, "No such command"),
    ],
    ids=lambda v: " ".join(map(str, v))[-40:] if isinstance(v, list) else "",
)
def test_errors(irax, arguments, code, message, folder):
    (folder / "bad.mlir").write_text("func.func @main() { nonsense }")
    (folder / "imports.py").write_text("import nothing_of_this_name")
    (folder / "calls.py").write_text("import irax\ndef f(x):\n    return irax.lax.rev(x, 0)\n")
    operation = "%0 = stablehlo.sin %x : tensor<f32>"
    (folder / "op.mlir").write_text(
        f"func.func @main(%x: tensor<f32>) -> tensor<f32> {{ {operation} return %0 : tensor<f32> }}"
    )
    done = irax(*arguments)
    assert message in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(irax, folder):
    (folder / "bad.mlir").write_text("nonsense")
    assert "Traceback" in irax("--debug", "opt", "bad.mlir").stderr


@pytest.mark.parametrize(
    ("name", "values", "printed"),
    [
        ("f8E4M3FN", "1.05", "float8_e4m3fn[1]\n[1]\n"),
        ("i4", "-8", "int4[1]\n[-8]\n"),
        ("u64", "18446744073709551615", "uint64[1]\n[18446744073709551615]\n"),
        ("ui8", "255", "uint8[1]\n[255]\n"),
        ("bool", "true", "bool[1]\n[ True]\n"),
        ("c128", "1-2j", "complex128[1]\n[1.-2.j]\n"),
    ],
)
def test_elements(irax, name, values, printed):
    spelled = {"u64": "ui64", "bool": "i1", "c128": "complex<f64>"}.get(name, name)
    type_ = f"tensor<1x{spelled}>"
    text = f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}"
    arguments = ("run", "-", "--input", f"1x{name}={values}", "--device", "reference")
    done = irax(*arguments, stdin=text)
    assert done.stdout == printed, done.stderr


def test_run_takes_arrays_of_the_other_order_of_bytes_and_complex_types(irax, folder):
    np.save(folder / "big.npy", np.array([1, -2, 3, 0.5], ">f4"))
    done = irax("run", "in.mlir", "--input", "big.npy", "--input", "4xf32=0.5")
    assert done.returncode == 0, done.stderr
    (folder / "complex.mlir").write_text(
        "func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {\n"
        "  return %x : tensor<2xcomplex<f32>>\n}\n"
    )
    for type_ in ("complex<f32>", "c64"):
        done = irax("run", "complex.mlir", "--input", f"2x{type_}=1+2j,3")
        assert done.stdout == "complex64[2]\n[1.+2.j 3.+0.j]\n"


@pytest.mark.parametrize("command", [["run", "--input", "f32=1"], ["cost"], ["grad"]])
def test_values_that_are_no_tensors_are_refused_by_their_types(irax, folder, command):
    (folder / "number.mlir").write_text("func.func @main(%x: f32) -> f32 {\n  return %x : f32\n}\n")
    name, *rest = command
    done = irax(name, "number.mlir", *rest)
    assert done.returncode == 1
    assert "values of type f32 are not supported; expected tensors" in done.stderr


def test_summaries_of_commands_fit_their_line(irax):
    listed = irax("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(listed) > 15
    assert all(line.endswith(".") and not line.endswith("...") for line in listed), listed
