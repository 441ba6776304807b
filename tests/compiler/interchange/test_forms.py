"""Forms of other frameworks' modules: rewritten as they are read, with the same results."""

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.forms.reading import read_module
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)
SUM = (
    "{ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32>\n"
    "stablehlo.return %s : tensor<f32> }"
)
GROUPS = "replica_groups = dense<0> : tensor<1x1xi64>"


def evaluated(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    return Evaluator(read_module(text))("main", arrays)


def compiled(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results of the device `cpu`."""
    executable = cpu().load(CPU.compile_text(mlir.bytecode(lower(read_module(text)))), "main")
    return [buffer.numpy() for buffer in executable([cpu().put(x) for x in arrays])]


def of_one(operation: str, attributes: str = "") -> str:
    return f"""
    module @m {attributes} {{
      func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{
        %0 = {operation} : (tensor<2x3xf32>) -> tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
      }}
    }}
    """


ALONE = {
    "all_reduce": f'"stablehlo.all_reduce"(%x) ({SUM}) {{{GROUPS}}}',
    "all_reduce-of-all": f'"stablehlo.all_reduce"(%x) ({SUM}) '
    "{replica_groups = dense<> : tensor<0x0xi64>}",
    "all_gather": f'"stablehlo.all_gather"(%x) {{all_gather_dim = 0 : i64, {GROUPS}}}',
    "all_to_all": '"stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, '
    f"concat_dimension = 0 : i64, split_count = 1 : i64, {GROUPS}}}",
    "reduce_scatter": f'"stablehlo.reduce_scatter"(%x) ({SUM}) '
    f"{{scatter_dimension = 0 : i64, {GROUPS}}}",
    "collective_broadcast": f'"stablehlo.collective_broadcast"(%x) {{{GROUPS}}}',
    "collective_permute": '"stablehlo.collective_permute"(%x) '
    "{source_target_pairs = dense<0> : tensor<1x2xi64>}",
    **{
        name: f'stablehlo.custom_call @{name}(%x) {{backend_config = ""}}'
        for name in ("mark_tensor", "LayoutConstraint", "MoveToHost")
    },
}


@pytest.mark.parametrize("operation", ALONE.values(), ids=ALONE)
def test_over_one_device_an_exchange_is_nothing(operation: str) -> None:
    (found,) = evaluated(of_one(operation), X)
    np.testing.assert_array_equal(found, X)


def test_who_gets_from_nobody_has_zeros() -> None:
    pairs = "{source_target_pairs = dense<> : tensor<0x2xi64>}"
    (found,) = evaluated(of_one(f'"stablehlo.collective_permute"(%x) {pairs}'), X)
    np.testing.assert_array_equal(found, 0 * X)


SEVERAL = {
    "groups": (
        ALONE["all_reduce"].replace("dense<0> : tensor<1x1", "dense<[[0, 1]]> : tensor<1x2"),
        "",
    ),
    "all": (ALONE["all_reduce-of-all"], "attributes {mhlo.num_replicas = 2 : i32}"),
    "pairs": (ALONE["collective_permute"].replace("dense<0>", "dense<[[0, 1]]>"), ""),
}


@pytest.mark.parametrize(("operation", "attributes"), SEVERAL.values(), ids=SEVERAL)
def test_over_several_devices_it_is_refused(operation: str, attributes: str) -> None:
    module = read_module(of_one(operation, attributes), "in.mlir")
    for run in (lambda: lower(module), lambda: Evaluator(module)("main", [X])):
        with pytest.raises(UnsupportedOp, match=r"in\.mlir.*is a program for several devices"):
            run()


def test_the_only_device_is_number_0() -> None:
    found = evaluated(
        """
        func.func @main() -> (tensor<ui32>, tensor<ui32>) {
          %0 = stablehlo.partition_id : tensor<ui32>
          %1 = stablehlo.replica_id : tensor<ui32>
          return %0, %1 : tensor<ui32>, tensor<ui32>
        }
        """
    )
    assert [(int(x), x.dtype) for x in found] == [(0, np.uint32)] * 2


TOKENS = """
func.func public @main(%t: !stablehlo.token {jax.token = true},
    %x: tensor<2x3xf32> {jax.name = "x"}) -> (!stablehlo.token, tensor<2x3xf32>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %t : !stablehlo.token
  %2:2 = func.call @twice(%x, %1) : (tensor<2x3xf32>, !stablehlo.token)
      -> (!stablehlo.token, tensor<2x3xf32>)
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %3:3 = stablehlo.while(%i = %zero, %y = %2#1, %s = %2#0)
      : tensor<i32>, tensor<2x3xf32>, !stablehlo.token
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.add %y, %x : tensor<2x3xf32>
    stablehlo.return %n, %z, %s : tensor<i32>, tensor<2x3xf32>, !stablehlo.token
  }
  return %3#2, %3#1 : !stablehlo.token, tensor<2x3xf32>
}
func.func private @twice(%x: tensor<2x3xf32>, %t: !stablehlo.token)
    -> (!stablehlo.token, tensor<2x3xf32>) {
  %0 = stablehlo.add %x, %x : tensor<2x3xf32>
  return %t, %0 : !stablehlo.token, tensor<2x3xf32>
}
"""

SCAN = """
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %init = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0:2 = chlo.scan(%x) inits(%init) dimension=1 attributes {is_reverse = true} {
  ^bb0(%row: tensor<2xf32>, %sum: tensor<2xf32>):
    %two = stablehlo.constant dense<2.0> : tensor<2xf32>
    %1 = stablehlo.multiply %row, %two : tensor<2xf32>
    %2 = stablehlo.add %1, %sum : tensor<2xf32>
    stablehlo.return %1, %2 : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2xf32>
}
"""


def test_tokens_are_no_arguments_and_no_results() -> None:
    module = read_module(TOKENS)
    assert "token" not in str(module)
    main = mlir.functions(module)["main"]
    assert str(main.attributes["arg_attrs"]) == '[{jax.name = "x"}]'
    (found,) = Evaluator(module)("main", [X])
    np.testing.assert_array_equal(found, 5 * X)


def test_loops_of_rows() -> None:
    rows, total = evaluated(SCAN, X)
    np.testing.assert_array_equal(rows, 2 * X)
    np.testing.assert_array_equal(total, 1 + 2 * X.sum(1))


def test_derivatives_of_loops_of_rows() -> None:
    module = read_module(SCAN)
    run_pipeline(module, "vjp{func=main}")
    *_, gradient = Evaluator(module)("main.vjp", [X, 0 * X, np.array([1, 3], np.float32)])
    np.testing.assert_array_equal(gradient, [[2, 2, 2], [6, 6, 6]])


def test_forms_on_iree() -> None:
    for text, expected in ((TOKENS, [5 * X]), (SCAN, [2 * X, 1 + 2 * X.sum(1)])):
        artefact = CPU.compile_text(mlir.bytecode(lower(read_module(text))))
        found = cpu().load(artefact, "main")([cpu().put(X)])
        for buffer, value in zip(found, expected, strict=True):
            np.testing.assert_array_equal(buffer.numpy(), value)


def test_tokens_of_who_talks_with_the_host_are_refused_by_name() -> None:
    module = read_module(
        """
        func.func @main() -> tensor<f32> {
          %0 = stablehlo.create_token : !stablehlo.token
          %1:2 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
          return %1#0 : tensor<f32>
        }
        """
    )
    with pytest.raises(UnsupportedOp, match=r"stablehlo\.(create_token|infeed)"):
        lower(module)


def test_elements_of_tuples() -> None:
    (found,) = evaluated(
        """
        func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
          %0 = stablehlo.negate %x : tensor<2x3xf32>
          %1 = stablehlo.tuple %0, %x : tuple<tensor<2x3xf32>, tensor<2x3xf32>>
          %2 = stablehlo.tuple %1 : tuple<tuple<tensor<2x3xf32>, tensor<2x3xf32>>>
          %3 = stablehlo.get_tuple_element %2[0] : (tuple<tuple<tensor<2x3xf32>,
              tensor<2x3xf32>>>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
          %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<2x3xf32>, tensor<2x3xf32>>)
              -> tensor<2x3xf32>
          return %4 : tensor<2x3xf32>
        }
        """,
        X,
    )
    np.testing.assert_array_equal(found, -X)


def random(low, high, dtype: str, kind: str = "UNIFORM") -> str:
    scalar = f"tensor<{dtype}>"
    return f"""
    func.func @main() -> (tensor<1000x{dtype}>, tensor<1000x{dtype}>) {{
      %low = stablehlo.constant dense<{low}> : {scalar}
      %high = stablehlo.constant dense<{high}> : {scalar}
      %shape = stablehlo.constant dense<1000> : tensor<1xi64>
      %0 = "stablehlo.rng"(%low, %high, %shape) {{
          rng_distribution = #stablehlo<rng_distribution {kind}>}}
          : ({scalar}, {scalar}, tensor<1xi64>) -> tensor<1000x{dtype}>
      %1 = "stablehlo.rng"(%low, %high, %shape) {{
          rng_distribution = #stablehlo<rng_distribution {kind}>}}
          : ({scalar}, {scalar}, tensor<1xi64>) -> tensor<1000x{dtype}>
      return %0, %1 : tensor<1000x{dtype}>, tensor<1000x{dtype}>
    }}
    """


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_random_floats(dtype: str) -> None:
    first, second = (x.astype(float) for x in evaluated(random("2.0", "4.0", dtype)))
    assert 2 <= first.min() < 2.02
    assert 3.98 < first.max() <= 4
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1
    first, _ = (x.astype(float) for x in evaluated(random("2.0", "4.0", dtype, "NORMAL")))
    assert abs(first.mean() - 2) < 0.4
    assert abs(first.std() - 4) < 0.3


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "ui8", "ui32", "ui64"])
def test_random_integers(dtype: str) -> None:
    low = -3 if dtype.startswith("i") else 2
    first, _ = evaluated(random(low, 7, dtype))
    assert sorted({*first.tolist()}) == [*range(low, 7)]
    assert first.dtype == mlir.DTYPES[dtype]


def test_random_booleans() -> None:
    first, _ = evaluated(random("false", "true", "i1"))
    assert 400 < first.sum() < 600


def test_operations_of_others_beside_functions_are_left_out() -> None:
    module = read_module(
        """
        module @m {
          "foo.global"() {sym_name = "weights", value = dense<1.0> : tensor<2x3xf32>} : () -> ()
          ml_program.global private mutable @counter(dense<0> : tensor<i32>) : tensor<i32>
          module @inner {}
          func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
            %0 = stablehlo.negate %x : tensor<2x3xf32>
            return %0 : tensor<2x3xf32>
          }
        }
        """
    )
    (function,) = lower(module).body.operations
    assert function.operation.name == "func.func"


def test_locations_name_the_file() -> None:
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %y : tensor<2xf32>\n}"
    with pytest.raises(ValueError, match=r'loc\("dir/in\.mlir":2:10\): use of undeclared SSA'):
        read_module(text, "dir/in.mlir")
    text = text.replace(
        "return %y", '%y = "foo.bar"(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %y'
    )
    with pytest.raises(UnsupportedOp, match=r'foo\.bar at loc\("dir/in\.mlir":2:8\)'):
        lower(read_module(text, "dir/in.mlir"))


I8 = "!quant.uniform<i8:f32, 0.5:-20>"
ROWS = "!quant.uniform<i8<-100:100>:f32:0, {0.5:10, 0.25}>"
QUANTIZED = f"""
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xi8>, tensor<2x3xf32>, tensor<3x2xf32>) {{
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x{I8}>
  %1 = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x{ROWS}>
  %2 = stablehlo.bitcast_convert %1 : (tensor<2x3x{ROWS}>) -> tensor<2x3xi8>
  %3 = stablehlo.add %0, %0 : tensor<2x3x{I8}>
  %4 = stablehlo.uniform_dequantize %3 : (tensor<2x3x{I8}>) -> tensor<2x3xf32>
  %5 = func.call @turned(%0) : (tensor<2x3x{I8}>) -> tensor<3x2x{I8}>
  %6 = stablehlo.uniform_dequantize %5 : (tensor<3x2x{I8}>) -> tensor<3x2xf32>
  return %2, %4, %6 : tensor<2x3xi8>, tensor<2x3xf32>, tensor<3x2xf32>
}}
func.func private @turned(%x: tensor<2x3x{I8}>) -> tensor<3x2x{I8}> {{
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x{I8}>) -> tensor<3x2x{I8}>
  return %0 : tensor<3x2x{I8}>
}}
"""


def test_quantized_numbers() -> None:
    x = np.array([[1.3, -7.6, 100], [-60, 0.3, 1]], np.float32)
    integers, twice, turned = evaluated(QUANTIZED, x)
    scales, points = np.array([[0.5], [0.25]]), np.array([[10], [0]])
    np.testing.assert_array_equal(integers, np.rint(np.clip(x / scales + points, -100, 100)))
    near = (np.clip(np.rint(x * 2 - 20), -128, 127) + 20) / 2
    np.testing.assert_array_equal(turned, near.T)
    np.testing.assert_array_equal(twice, np.clip(2 * near, -54, 73.5))


def test_quantized_constants() -> None:
    (found,) = evaluated(
        """
        func.func @main() -> tensor<2xf32> {
          %0 = "stablehlo.constant"() {value = dense<[2, -4]> : tensor<2xi8>}
              : () -> tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
          %1 = stablehlo.uniform_dequantize %0
              : (tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2xf32>
          return %1 : tensor<2xf32>
        }
        """
    )
    np.testing.assert_array_equal(found, [11, 8])


def test_quantized_numbers_in_other_operations_are_refused_by_name() -> None:
    module = read_module(
        f"""
        func.func @main(%x: tensor<2xf32>) -> tensor<f32> {{
          %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x{I8}>
          %1 = stablehlo.slice %0 [0:1] : (tensor<2x{I8}>) -> tensor<1x{I8}>
          %2 = stablehlo.reshape %1 : (tensor<1x{I8}>) -> tensor<{I8}>
          %3 = stablehlo.reduce(%0 init: %2) applies stablehlo.maximum across dimensions = [0]
              : (tensor<2x{I8}>, tensor<{I8}>) -> tensor<{I8}>
          %4 = stablehlo.uniform_dequantize %3 : (tensor<{I8}>) -> tensor<f32>
          return %4 : tensor<f32>
        }}
        """
    )
    with pytest.raises(UnsupportedOp, match=r"stablehlo\.uniform_quantize at"):
        lower(module)


def test_a_scatter_writes_what_is_inside_of_windows_partly_outside() -> None:
    text = """
    func.func @main(%x: tensor<4x3xi32>, %i: tensor<3x1xui8>, %u: tensor<3x2x3xi32>)
        -> tensor<4x3xi32> {
      %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32> }) {scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<4x3xi32>, tensor<3x1xui8>, tensor<3x2x3xi32>) -> tensor<4x3xi32>
      return %0 : tensor<4x3xi32>
    }
    """
    x, updates = np.zeros((4, 3), np.int32), np.arange(1, 19, dtype=np.int32).reshape(3, 2, 3)
    at = np.array([[3], [255], [1]], np.uint8)
    wanted = x.copy()
    for start, window in zip(at[:, 0].tolist(), updates, strict=True):
        for row, values in enumerate(window, start):
            if row < 4:
                wanted[row] += values
    for found in (evaluated(text, x, at, updates), compiled(text, x, at, updates)):
        np.testing.assert_array_equal(found[0], wanted)


@pytest.mark.parametrize("windows", [False, True], ids=["reduce", "reduce_window"])
def test_a_reduction_is_in_the_type_of_its_function(windows: bool) -> None:
    op, result = ("reduce_window", "1x") if windows else ("reduce", "")
    along = "window_dimensions = array<i64: 3>" if windows else "dimensions = array<i64: 0>"
    text = f"""
    func.func @main(%x: tensor<3xi8>, %i: tensor<i8>) -> tensor<{result}i32> {{
      %0 = "stablehlo.{op}"(%x, %i) ({{ ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32> }}) {{{along}}}
        : (tensor<3xi8>, tensor<i8>) -> tensor<{result}i32>
      return %0 : tensor<{result}i32>
    }}
    """
    arrays = [np.array([100, 100, 100], np.int8), np.array(0, np.int8)]
    for found in (evaluated(text, *arrays), compiled(text, *arrays)):
        assert (found[0].dtype, found[0].ravel().tolist()) == (np.int32, [300])


def test_a_sort_may_count_its_dimension_from_the_last() -> None:
    text = """
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = "stablehlo.sort"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1> }) {dimension = -2 : i64}
        : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }
    """
    for found in (evaluated(text, X), compiled(text, X)):
        np.testing.assert_array_equal(found[0], X[::-1])
