"""Portable artifacts (VHLO) and Shardy's annotations, as JAX exports them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.forms.reading import read_module
from irax_compiler.lowering import lower
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.shardy import bytecode as sharding_bytecode

TENSOR = "!vhlo.tensor_v1<3x!vhlo.f32_v1>"
SCALAR = "!vhlo.tensor_v1<!vhlo.f32_v1>"
PORTABLE = f"""
vhlo.func_v1 @main(%a: {TENSOR}) -> ({SCALAR}) {{
  %z = "vhlo.constant_v1"() <{{value = #vhlo.tensor_v1<dense<0.0> : tensor<f32>>}}> : () -> {SCALAR}
  %s = "vhlo.multiply_v1"(%a, %a) : ({TENSOR}, {TENSOR}) -> {TENSOR}
  %r = "vhlo.reduce_v1"(%s, %z) <{{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}}> ({{
  ^bb0(%x: {SCALAR}, %y: {SCALAR}):
    %t = "vhlo.add_v1"(%x, %y) : ({SCALAR}, {SCALAR}) -> {SCALAR}
    "vhlo.return_v1"(%t) : ({SCALAR}) -> ()
  }}) : ({TENSOR}, {SCALAR}) -> {SCALAR}
  "vhlo.return_v1"(%r) : ({SCALAR}) -> ()
}} {{arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>,
   sym_visibility = #vhlo.string_v1<"">}}
"""


def test_portable_artifacts_become_stablehlo():
    module = read_module(PORTABLE)
    assert [*mlir.functions(module)] == ["main"]
    (result,) = Evaluator(module)("main", [np.array([1, 2, 3], np.float32)])
    assert result == 14
    assert "vhlo" not in str(lower(module))


def test_what_is_no_stablehlo_is_refused():
    text = PORTABLE.replace("dense<0> : tensor<1xi64>", "dense<7> : tensor<1xi64>")
    with pytest.raises(ValueError, match=r"not a valid MLIR module: .*Out-of-bounds dimension 7"):
        read_module(text)


def exported(fun, *args) -> bytes:
    jax = pytest.importorskip("jax", reason="JAX makes the artifacts")
    return jax.export.export(jax.jit(fun))(*args).mlir_module_serialized


def test_what_jax_exports():
    jnp = pytest.importorskip("jax.numpy", reason="JAX makes the artifacts")

    def fun(x, n):
        y, i = jnp.sort(x @ x.T, axis=0), jnp.argmax(x, axis=1)
        return jnp.where(n > i, jnp.tanh(y[0]), y[1]).sum(), i

    x = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    module = read_module(exported(fun, x, np.int32(1)))
    found = Evaluator(module)("main", [x, np.array(1, np.int32)])
    for result, expected in zip(found, fun(x, 1), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_damaged_artifacts_are_errors():
    jnp = pytest.importorskip("jax.numpy", reason="JAX makes the artifacts")
    data = exported(lambda x: jnp.sin(x).sum(), np.ones((3, 4), np.float32))
    for length in range(1, len(data), 13):
        with pytest.raises(ValueError, match="not a valid MLIR module"):
            read_module(data[:length])


EXPORTED = Path(__file__).parents[2] / "foreign" / "exported"


def test_attributes_of_a_dialect_are_taken_out():
    data = (EXPORTED / "eigenvalues.mlirbc").read_bytes()
    assert b"\0sdy\0" in data  # how custom calls may be sharded
    module = read_module(data)
    assert "sdy" not in str(module).replace("sdy.sharding_rule", "")
    a = np.diag(np.array([3, 1, 2, 5], np.float32))
    (found,) = Evaluator(module)("main", [a])
    np.testing.assert_allclose(found, [1, 2, 3, 5], rtol=1e-5)
    for length in range(4, len(data), 37):
        with pytest.raises(ValueError, match="not a valid MLIR module"):
            read_module(data[:length])


def test_other_bytecode_stays_as_it_is():
    data = (EXPORTED / "mlp.mlirbc").read_bytes()
    assert sharding_bytecode.readable(data) is data


def test_programs_for_several_devices_that_only_say_where_arrays_lie():
    data = (EXPORTED / "sharded.mlirbc").read_bytes()
    (found,) = Evaluator(read_module(data))("main", [np.ones((8, 4), np.float32)])
    np.testing.assert_allclose(found, 32 * np.sin(1), rtol=1e-5)


SHARDED = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %a : tensor<8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{devices=[4,1]<=[4]}"}
      : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
}
"""


def test_where_arrays_lie_changes_no_results():
    x = np.ones((8, 4), np.float32)
    module = read_module(SHARDED)
    np.testing.assert_allclose(Evaluator(module)("main", [x])[0], np.sin(x), rtol=1e-6)
    assert "custom_call" not in str(lower(module))


def test_manual_computations_without_their_mesh_are_refused():
    text = """
    func.func @main(%a: tensor<8xf32>) -> tensor<2xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
        sdy.return %b : tensor<2xf32>
      } : (tensor<8xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    """
    with pytest.raises(
        ValueError,
        match="over @mesh, a mesh that the module lacks",
    ):
        read_module(text)
