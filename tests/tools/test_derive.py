"""irax grad, vjp, jvp, jacobian and vmap: what they write, and how they are piped."""

from __future__ import annotations

import numpy as np
import pytest

USAGE, FAILURE = 2, 1
X = np.array([1, -2, 3, 0.5])
W = np.array([0.5, 0.5, 1, 2])
SLOPES = 1 - np.tanh(X * W) ** 2
INPUTS = ("--input", "4xf32=1,-2,3,0.5", "--input", "4xf32=0.5,0.5,1,2")
ONE = ("--input", "f32=1")


def results(folder, irax, module, *arguments, count):
    names = [f"r{i}.npy" for i in range(count)]
    outputs = [part for name in names for part in ("--output", name)]
    done = irax("run", "-", "--device", "reference", *arguments, *outputs, stdin=module)
    assert done.returncode == 0, done.stderr
    return [np.load(folder / name) for name in names]


def test_grad(folder, irax):
    module = irax("grad", "in.mlir").stdout
    dx, dw = results(folder, irax, module, *INPUTS, count=2)
    np.testing.assert_allclose(dx, SLOPES * W, rtol=1e-5)
    np.testing.assert_allclose(dw, SLOPES * X, rtol=1e-5)
    assert module.count("func.func") == 1


def test_value_and_gradient(folder, irax):
    module = irax("grad", "in.mlir", "--wrt", "1", "--value").stdout
    value, dw = results(folder, irax, module, *INPUTS, count=2)
    np.testing.assert_allclose(value, np.tanh(X * W).sum(), rtol=1e-5)
    np.testing.assert_allclose(dw, SLOPES * X, rtol=1e-5)


def test_vjp(folder, irax):
    module = irax("vjp", "in.mlir", "--wrt", "0").stdout
    inputs = (*INPUTS, "--input", "f32=2")
    value, dx = results(folder, irax, module, *inputs, count=2)
    np.testing.assert_allclose(value, np.tanh(X * W).sum(), rtol=1e-5)
    np.testing.assert_allclose(dx, 2 * SLOPES * W, rtol=1e-5)


def test_jvp(folder, irax):
    module = irax("jvp", "in.mlir", "--wrt", "0").stdout
    inputs = (*INPUTS, "--input", "4xf32=1,2,3,4")
    _, slope = results(folder, irax, module, *inputs, count=2)
    np.testing.assert_allclose(slope, SLOPES * W @ [1, 2, 3, 4], rtol=1e-5)


def test_a_sparse_jacobian_of_a_gradient(folder, irax):
    gradient = irax("grad", "in.mlir", "--wrt", "0").stdout
    sparse = irax("jacobian", "-", "--sparse", "--wrt", "0", stdin=gradient).stdout
    elements, rows, columns = results(folder, irax, sparse, *INPUTS, count=3)
    assert rows.tolist() == columns.tolist() == [0, 1, 2, 3]
    expected = -2 * np.tanh(X * W) * SLOPES * W**2
    np.testing.assert_allclose(elements, expected, rtol=1e-4, atol=1e-6)
    dense = irax("jacobian", "-", "--wrt", "0", stdin=gradient).stdout
    (matrix,) = results(folder, irax, dense, *INPUTS, count=1)
    np.testing.assert_array_equal(matrix, np.diag(elements))


def test_a_pipe_needs_no_names(folder, irax):
    text = (folder / "in.mlir").read_text().replace("@main", "@loss")
    gradient = irax("grad", "-", "--wrt", "0", stdin=text).stdout
    product = irax("jvp", "-", "--wrt", "0", stdin=gradient).stdout
    lanes = irax("vmap", "--in-axes", "0,None,None", "--size", "2", stdin=product).stdout
    rows = ("--input", "2x4xf32=1,-2,3,0.5,0,0,0,0", "--input", "4xf32=0.5,0.5,1,2")
    _, found = results(folder, irax, lanes, *rows, "--input", "4xf32=1", count=2)
    tanh = np.tanh(np.array([X * W, 0 * X]))
    np.testing.assert_allclose(found, -2 * tanh * (1 - tanh**2) * W**2, rtol=1e-4, atol=1e-6)


def test_a_hessian(folder, irax):
    """docs/command_line.md writes it as a pipe."""
    gradient = irax("grad", "in.mlir", "--wrt", "0").stdout
    product = irax("jvp", "-", "--wrt", "0", stdin=gradient).stdout
    axes = ("--in-axes", "None,None,0", "--out-axes", "None,0", "--size", "4")
    hessian = irax("vmap", *axes, stdin=product).stdout
    rows = ",".join(str(x) for x in np.eye(4).ravel())
    inputs = (*INPUTS, "--input", f"4x4xf32={rows}")
    first, second = results(folder, irax, hessian, *inputs, count=2)
    np.testing.assert_allclose(first, SLOPES * W, rtol=1e-5)
    tanh = np.tanh(X * W)
    expected = np.diag(-2 * tanh * SLOPES * W**2)
    np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-6)


def test_axes_of_results(folder, irax):
    text = """
    func.func @rows(%x: tensor<3xf32>, %y: tensor<f32>) -> (tensor<3xf32>, tensor<f32>) {
      %0 = stablehlo.exponential %x : tensor<3xf32>
      return %0, %y : tensor<3xf32>, tensor<f32>
    }
    """
    axes = ("--in-axes", "1,None", "--out-axes", "1,None", "--size", "2")
    module = irax("vmap", *axes, stdin=text).stdout
    inputs = ("--input", "3x2xf32=0,1,2,3,4,5", "--input", "f32=7")
    rows, y = results(folder, irax, module, *inputs, count=2)
    np.testing.assert_allclose(rows, np.exp(np.arange(6).reshape(3, 2)), rtol=1e-5)
    assert y == 7


COLLECTIVE = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, has_side_effect = false,
    backend_config = {axis = "i", size = 2 : i64, combiner = "add"}}
    : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


def test_collectives_over_the_axis(folder, irax):
    module = irax("vmap", "--size", "2", "--axis-name", "i", stdin=COLLECTIVE).stdout
    (sums,) = results(folder, irax, module, "--input", "2x3xf32=0,1,2,3,4,5", count=1)
    np.testing.assert_array_equal(sums, [[3, 5, 7]] * 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vmap", "--size", "3", "--axis-name", "i"], "expected 2, the size of the axis 'i'"),
        (["run", "--input", "3xf32=1"], "a function that is mapped along an axis of this name"),
    ],
)
def test_collectives_without_their_axis(irax, arguments, message):
    done = irax(*arguments, stdin=COLLECTIVE)
    assert message in done.stderr
    assert done.returncode == FAILURE


def test_a_function_that_is_called_by_one_of_another_name(folder, irax):
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.sine %x : tensor<f32>
      return %0 : tensor<f32>
    }
    func.func @twice(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
      %1 = func.call @main(%0) : (tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    """
    module = irax("grad", "--func", "twice", stdin=text).stdout
    (slope,) = results(folder, irax, module, *ONE, count=1)
    np.testing.assert_allclose(slope, np.cos(np.sin(1)) * np.cos(1), rtol=1e-5)


def test_a_python_function(folder, irax):
    (folder / "loss.py").write_text(
        "import irax.numpy as jnp\n"
        "def loss(params, x):\n"
        "    return jnp.sum(jnp.tanh(x * params['w']))\n"
    )
    types = "{'w': f32[4]}, f32[4]"
    module = irax("grad", "loss.py:loss", "--args", types, "--wrt", "0").stdout
    inputs = (*INPUTS[2:], *INPUTS[:2])
    (dw,) = results(folder, irax, module, *inputs, count=1)
    np.testing.assert_allclose(dw, SLOPES * X, rtol=1e-5)
    direct = irax("run", "loss.py:loss", "--args", types, *inputs)
    np.testing.assert_allclose(float(direct.stdout.split()[1]), np.tanh(X * W).sum(), rtol=1e-5)


INTEGERS = "func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> { return %x : tensor<3xi32> }"
COMPLEX = """func.func @main(%x: tensor<complex<f32>>) -> tensor<complex<f32>> {
  return %x : tensor<complex<f32>>
}"""
UNKNOWN = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @mystery(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "message"),
    [
        (["grad"], INTEGERS, FAILURE, "returns (tensor<3xi32>); a gradient is of one real scalar"),
        (["grad"], COMPLEX, FAILURE, "Use `irax vjp`, which takes a cotangent for each result"),
        (["jvp"], INTEGERS, FAILURE, "@main has no argument of a floating-point or complex type"),
        (["vjp", "--wrt", "0"], INTEGERS, FAILURE, "which has no derivative; expected a floating"),
        (["grad"], UNKNOWN, FAILURE, 'custom_call of "mystery" at'),
        (["grad", "in.mlir", "--wrt", "2"], "", FAILURE, "@main has 2 arguments, counted from 0"),
        (["grad", "in.mlir", "--wrt", "a"], "", USAGE, "'a': expected numbers such as 0,2"),
        (["grad", "in.mlir", "--wrt", "-1"], "", USAGE, "'-1': expected numbers such as 0,2"),
        (["grad", "in.mlir", "--func", "g"], "", FAILURE, "no function @g; it has @main"),
        (["grad", "in.mlir", "--args", "f32[]"], "", USAGE, "--args goes with FILE.py:FUNCTION"),
        (["grad", "f.py"], "", USAGE, "which function? expected f.py:FUNCTION"),
        (["grad"], "", FAILURE, "-: empty; expected a module"),
        (["jacobian"], COMPLEX, FAILURE, "of dtypes complex64; expected one real dtype"),
        (["vmap", "in.mlir"], "", USAGE, "Missing option '--size'"),
        (["vmap", "in.mlir", "--size", "0"], "", USAGE, "0 is not in the range x>=1"),
        (["vmap", "in.mlir", "--size", "2", "--in-axes", "x"], "", USAGE, "numbers such as 0,None"),
        (["vmap", "in.mlir", "--size", "2", "--in-axes", "0,0,0"], "", FAILURE, "expected 2 axes"),
        (["vmap", "in.mlir", "--size", "2", "--in-axes", "9"], "", FAILURE, "9 is out of range"),
        (["vmap", "in.mlir", "--size", "2", "--in-axes", "None"], "", FAILURE, "at least one mapp"),
        (
            ["vmap", "in.mlir", "--size", "2", "--out-axes", "None"],
            "",
            FAILURE,
            "that depends on a mapped argument",
        ),
    ],
    ids=lambda v: " ".join(v)[-40:] if isinstance(v, list) else "",
)
def test_errors(folder, irax, arguments, stdin, code, message):
    done = irax(*arguments, "-o", "out.mlir", stdin=stdin)
    assert message in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert not (folder / "out.mlir").exists()
