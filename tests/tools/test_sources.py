"""Where functions come from: files of other frameworks, of irax, and of Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import special

import irax as python
import irax_runtime
from irax_compiler import mlir
from irax_compiler.evaluate import Evaluator
from irax_tools import derive, sources
from irax_tools.programs import REFERENCE, program

FOREIGN = Path(__file__).parents[1] / "foreign" / "exported"
W = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)
X = np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)

FUNCTIONS = """
import numpy as np
import irax
import irax.numpy as jnp

@irax.jit
def step(params, x):
    return {"sum": params["w"] * jnp.sum(x), "x": -x}

def batch():
    return {"w": np.ones(2, "f")}, jnp.arange(4.0)

def types():
    return [{"w": irax.ShapeDtypeStruct((2,), "f")}, irax.ShapeDtypeStruct((4,), "f")]

def number():
    return 1

def step_and_arguments():
    return step, batch()
"""


def test_what_jax_export_serialises(irax):
    path = str(FOREIGN / "serialised.jax")
    source = sources.load(path)
    gradient = program(derive.grad(source, [0]), REFERENCE)([W, X])
    np.testing.assert_allclose(gradient[0], X.T @ (1 - np.tanh(X @ W) ** 2), rtol=1e-5)
    np.testing.assert_allclose(python.ir.load(path)(W, X), np.tanh(X @ W).sum(), rtol=1e-6)


def test_what_irax_export_saves(folder, irax):
    step = python.jit(lambda p: {"y": p["x"] ** 3})
    exported = python.export.export(step)({"x": 2.0})
    exported.save(folder / "step.irax")
    gradient = irax("grad", "step.irax")
    assert gradient.returncode == 0, gradient.stderr
    done = irax("run", "-", "--input", "f32=2", "--device", "reference", stdin=gradient.stdout)
    assert done.stdout == "float32[]\n12.0\n"
    assert irax("run", "step.irax", "--input", "f32=2").stdout == "float32[]\n8.0\n"
    evaluated = irax("run", "step.irax", "--input", "f32=2", "--device", "reference")
    assert evaluated.stdout == "float32[]\n8.0\n"
    (folder / "step.vmfb").write_bytes(b"")
    refused = irax("run", "step.vmfb", "--device", "reference")
    assert refused.returncode == 2
    assert "runs modules, not compiled programs" in refused.stderr


@pytest.mark.parametrize("function", ["step", "step_and_arguments"])
def test_functions_and_arguments(folder, irax, function):
    (folder / "functions.py").write_text(FUNCTIONS)
    arguments = () if function == "step_and_arguments" else ("--args", "batch()")
    done = irax("run", f"functions.py:{function}", *arguments)
    assert done.stdout == "float32[2]\n[6. 6.]\nfloat32[4]\n[-0. -1. -2. -3.]\n", done.stderr
    saved = irax("compile", f"functions.py:{function}", *arguments, "-o", "step.irax")
    assert saved.returncode == 0, saved.stderr
    found = irax_runtime.load(folder / "step.irax")({"w": W[0]}, X.ravel()[:4])
    np.testing.assert_allclose(found["sum"], W[0] * X.ravel()[:4].sum(), rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("types()", 1, "step takes 2 arguments, got 0"),
        ("nothing()", 2, "functions.py has no function 'nothing'; it has step, batch, types"),
        ("number()", 2, "--args number(): it returns a int; expected a tuple"),
        ("step()", 1, "irax: error: "),
    ],
)
def test_other_arguments(folder, irax, arguments, code, message):
    (folder / "functions.py").write_text(FUNCTIONS)
    done = irax("run", "functions.py:step", "--args", arguments, "--device", "reference")
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_module_with_its_types_in_a_file(folder, irax):
    assert irax("compile", "in.mlir", "-o", "model.irax").returncode == 0
    (found,) = irax_runtime.load(folder / "model.irax")(X.ravel()[:4], X.ravel()[4:8])
    np.testing.assert_allclose(found, np.tanh(X.ravel()[:4] * X.ravel()[4:8]).sum(), rtol=1e-5)


CHLO = {
    "acos": np.arccos,
    "asinh": np.arcsinh,
    "cosh": np.cosh,
    "erf": special.erf,
    "erf_inv": special.erfinv,
}


@pytest.mark.parametrize("name", CHLO)
def test_functions_in_calls_of_mhlo(name):
    text = f"""
    module @exported attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
      func.func public @main(%x: tensor<3xf32> {{tf.aliasing_output = 0 : i32,
          mhlo.layout_mode = "default"}}) -> (tensor<3xf32> {{jax.result_info = "result"}}) {{
        %0 = stablehlo.custom_call @mhlo.{name}(%x) {{mhlo.attributes = {{}},
            mhlo.version = 1 : i64}} : (tensor<3xf32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }}
    }}
    """
    x = np.array([-0.5, 0.1, 0.7], np.float32)
    module = mlir.parse_module(text)
    (found,) = Evaluator(module)("main", [x])
    np.testing.assert_allclose(found, CHLO[name](x), rtol=1e-5)
    _, slope = program(derive.jvp(sources.Source(module, "main"), None), REFERENCE)([x, x * 0 + 1])
    wide, step = x.astype(float), 1e-6
    differences = (CHLO[name](wide + step) - CHLO[name](wide - step)) / (2 * step)
    np.testing.assert_allclose(slope, differences, rtol=1e-4)


@pytest.mark.parametrize(
    ("operation", "named"),
    [
        ('"mhlo.add"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>', "mhlo.add"),
        ('"tf.Sin"(%x) : (tensor<f32>) -> tensor<f32>', "tf.Sin"),
        (
            "stablehlo.custom_call @cu_threefry2x32_ffi(%x) : (tensor<f32>) -> tensor<f32>",
            'custom_call of "cu_threefry2x32_ffi"',
        ),
        (
            "stablehlo.custom_call @cusolver_potrf_ffi(%x) : (tensor<f32>) -> tensor<f32>",
            'custom_call of "cusolver_potrf_ffi"',
        ),
    ],
)
def test_what_is_refused_by_name(folder, named, operation):
    path = folder / "other.mlir"
    path.write_text(
        f"func.func @main(%x: tensor<f32>) -> tensor<f32> {{ %0 = {operation}\n"
        "return %0 : tensor<f32> }"
    )
    with pytest.raises(NotImplementedError, match=f"{named} at .* is not supported"):
        program(sources.load(str(path)), REFERENCE)
