"""Sources of functions: files of other frameworks, of irax, and of Python."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pytest
from scipy import special

import irax as python
import irax_runtime
from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_tools import derive, sources
from irax_tools.exporting import export_source
from irax_tools.programs import REFERENCE, load_program, program

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
    found = python.ir.load(path, device="reference")(W, X)
    np.testing.assert_allclose(found, np.tanh(X @ W).sum(), rtol=1e-6)


def run(path, *operands, arguments=None, device=REFERENCE):
    call, examples = load_program(str(path), arguments, None, device)
    return call(operands or examples or [])


def test_what_irax_export_saves(folder):
    step = python.jit(lambda p: {"y": p["x"] ** 3})
    exported = python.export.export(step)({"x": 2.0})
    exported.save(folder / "step.irax")
    two = np.array(2, np.float32)
    gradient = derive.grad(sources.load(str(folder / "step.irax")), None)
    assert program(gradient, REFERENCE)([two]) == [12]
    assert run(folder / "step.irax", two) == run(folder / "step.irax", two, device="cpu") == [8]
    with pytest.raises(click.UsageError, match="runs modules, not compiled programs"):
        run("step.vmfb", two)


@pytest.mark.parametrize(
    ("function", "arguments"), [("step", "batch()"), ("step_and_arguments", None)]
)
def test_functions_and_arguments(folder, function, arguments):
    (folder / "functions.py").write_text(FUNCTIONS)
    name = f"{folder / 'functions.py'}:{function}"
    total, negated = run(name, arguments=arguments)
    np.testing.assert_array_equal(total, [6, 6])
    np.testing.assert_array_equal(negated, -np.arange(4.0))
    saved = export_source(name, arguments, None, "cpu").to_bytes()
    found = irax_runtime.load(saved)({"w": W[0]}, X.ravel()[:4])
    np.testing.assert_allclose(found["sum"], W[0] * X.ravel()[:4].sum(), rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ("types()", TypeError, "step takes 2 arguments, got 0"),
        ("nothing()", click.UsageError, "has no function 'nothing'; it has step, batch, types"),
        ("f32[4] f32[4]", click.UsageError, "expected types such as .*, separated by commas"),
        ("number()", click.UsageError, r"--args number\(\): it returns a int; expected a tuple"),
    ],
)
def test_other_arguments(folder, arguments, error, message):
    (folder / "functions.py").write_text(FUNCTIONS)
    with pytest.raises(error, match=message):
        run(f"{folder / 'functions.py'}:step", arguments=arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (None, r"without --args: missing a required argument: .*called as \(.*--args \"f32\[3\]"),
        ("f32[4],f32[4],f32[4]", r"--args 'f32\[4\].*': too many positional arguments; .*as \("),
    ],
)
def test_as_many_arguments_as_the_function_takes(folder, arguments, message):
    (folder / "functions.py").write_text(FUNCTIONS)
    with pytest.raises(click.UsageError, match=message):
        run(f"{folder / 'functions.py'}:step", arguments=arguments)
    with pytest.raises(click.UsageError, match=message):
        export_source(f"{folder / 'functions.py'}:step", arguments, None, "cpu")


def test_arguments_that_fail(folder, irax):
    (folder / "functions.py").write_text(FUNCTIONS)
    done = irax("run", "functions.py:step", "--args", "step()", "--device", "reference")
    assert done.returncode == 1
    assert done.stderr.startswith("irax: error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_errors_of_functions_name_their_line(folder, irax):
    (folder / "functions.py").write_text("def f(x):\n    return x.nothing\n")
    done = irax("run", "functions.py:f", "--args", "f32[2]")
    assert done.returncode == 1
    assert done.stderr.endswith("at functions.py:2: return x.nothing\n")


def test_files_that_are_no_programs_are_named(folder, irax):
    (folder / "functions.py").write_bytes(b"x = 1\0")
    assert "functions.py" in irax("run", "functions.py:f", "--args", "f32[2]").stderr
    (folder / "functions.py").write_text("")
    done = irax("run", "functions.py:f", "--args", "f32[2]")
    assert "functions.py has no function 'f'; it has none" in done.stderr


def test_a_module_with_its_types_in_a_file(folder):
    saved = export_source(str(folder / "in.mlir"), None, None, "cpu").to_bytes()
    (found,) = irax_runtime.load(saved)(X.ravel()[:4], X.ravel()[4:8])
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
            "stablehlo.custom_call @hipsolver_csrlsvqr_ffi(%x) : (tensor<f32>) -> tensor<f32>",
            'custom_call of "hipsolver_csrlsvqr_ffi"',
        ),
        (
            "stablehlo.custom_call @cudnn_rnn(%x) : (tensor<f32>) -> tensor<f32>",
            'custom_call of "cudnn_rnn"',
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
