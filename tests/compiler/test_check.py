"""Operations that irax cannot run are refused by name, on every device, before anything runs."""

import pytest

from irax_compiler import mlir
from irax_compiler.lowering import check, lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline

SAME = "(%a: tensor<4xf32>) -> tensor<4xf32>"
CALL = "(%a) : (tensor<4xf32>) -> tensor<4xf32>"

REFUSED = {
    "dynamic-argument": (
        "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }",
        r'@main at loc\("-":1:1\): tensor<\?xf32> is of dynamic shape',
    ),
    "dynamic-result": (
        "func.func @main() { %n = stablehlo.constant dense<4> : tensor<1xi32>\n"
        "%a = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>\n"
        "return }",
        r"stablehlo\.dynamic_iota at loc.*",
    ),
    "unranked": (
        "func.func @main(%a: tensor<*xf32>) { return }",
        r"values of type tensor<\*xf32> are not supported",
    ),
    "scalar": ("func.func @main(%a: f32) { return }", "values of type f32 are not supported"),
    "memref": ("func.func @main(%a: memref<4xf32>) { return }", "values of type memref<4xf32>"),
    "element": (
        "func.func @main(%a: tensor<4xi3>) { return }",
        "element type i3 of tensor<4xi3> is not supported",
    ),
    "encoding": (
        "func.func @main(%a: tensor<4xf32, #other.encoding>) { return }",
        "has an encoding: not supported",
    ),
    "huge": (
        "func.func @main() { %0 = stablehlo.iota dim = 0 : tensor<9223372036854775807xf64>\n"
        "return }",
        "larger than any memory",
    ),
    "other-dialect": (
        f'func.func @main{SAME} {{ %0 = "foo.bar"{CALL}\n return %0 : tensor<4xf32> }}',
        r"foo\.bar at loc.* is not supported",
    ),
    "dialect-of-mlir": (
        f"func.func @main{SAME} {{ %0 = arith.addf %a, %a : tensor<4xf32>\n"
        "return %0 : tensor<4xf32> }",
        r"arith\.addf at loc.* is not supported",
    ),
    "collective": (
        f'func.func @main{SAME} {{ %0 = "stablehlo.all_gather"(%a) '
        "<{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> "
        ": (tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32> }",
        r"stablehlo\.all_gather at loc.* is not supported",
    ),
    "custom-call": (
        f"func.func @main{SAME} {{ %0 = stablehlo.custom_call @mine{CALL}\n"
        "return %0 : tensor<4xf32> }",
        r'stablehlo\.custom_call of "mine" at loc.* is not supported',
    ),
    "in-a-region": (
        f"func.func @main{SAME} {{ %p = stablehlo.constant dense<true> : tensor<i1>\n"
        '%0 = "stablehlo.if"(%p) ({ %1 = "foo.bar"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "stablehlo.return %1 : tensor<4xf32> }, { stablehlo.return %a : tensor<4xf32> }) "
        ": (tensor<i1>) -> tensor<4xf32>\n return %0 : tensor<4xf32> }",
        r"foo\.bar at loc",
    ),
    "in-a-function": (
        f'func.func private @f{SAME} {{ %0 = "foo.bar"{CALL}\n return %0 : tensor<4xf32> }}\n'
        f"func.func @main{SAME} {{ %0 = call @f{CALL}\n return %0 : tensor<4xf32> }}",
        r"foo\.bar at loc",
    ),
    "no-body": (
        f"func.func private @f{SAME}\n"
        f"func.func @main{SAME} {{ %0 = call @f{CALL}\n return %0 : tensor<4xf32> }}",
        r"@f at loc.* has no body",
    ),
    "declaration": (f"func.func private @main{SAME}", "@main at loc.* has no body"),
    "blocks": (
        f"func.func @main{SAME} {{ cf.br ^b(%a : tensor<4xf32>)\n"
        "^b(%b: tensor<4xf32>): return %b : tensor<4xf32> }",
        "@main at loc.* has several blocks",
    ),
    "recursion": (
        f"func.func private @f{SAME} {{ %0 = call @g{CALL}\n return %0 : tensor<4xf32> }}\n"
        f"func.func private @g{SAME} {{ %0 = call @f{CALL}\n return %0 : tensor<4xf32> }}\n"
        f"func.func @main{SAME} {{ %0 = call @g{CALL}\n return %0 : tensor<4xf32> }}",
        "calls itself, or a function that does: recursion is not supported",
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("run", [check, lower])
def test_refused(run, text, message):
    with pytest.raises(UnsupportedOp, match=message):
        run(mlir.parse_module(text))


PIPELINES = ["jvp", "linearize", "transpose", "vjp", "batch{size=3}"]
NOT_DERIVED = ["dynamic-argument", "unranked", "scalar", "encoding", "other-dialect"]
NOT_DERIVED += ["no-body", "declaration", "blocks", "recursion", "in-a-function"]


@pytest.mark.parametrize("case", NOT_DERIVED)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_passes_refuse_the_same(pipeline, case):
    text, message = REFUSED[case]
    with pytest.raises(UnsupportedOp, match=message):
        run_pipeline(mlir.parse_module(text), pipeline)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() { return }", "no function @main; it has @f"),
        ("module { module { func.func @main() { return } } }", "it has none"),
    ],
)
@pytest.mark.parametrize("run", [check, lower])
def test_no_function(run, text, message):
    with pytest.raises(ValueError, match=message):
        run(mlir.parse_module(text))


def test_what_is_not_called_does_not_matter():
    module = mlir.parse_module(
        f'func.func private @f{SAME} {{ %0 = "foo.bar"{CALL}\n return %0 : tensor<4xf32> }}\n'
        "func.func @other(%a: f32) { return }\n"
        f"func.func @main{SAME} {{ return %a : tensor<4xf32> }}"
    )
    check(module)
    lower(module)


def test_attributes_of_other_dialects_do_not_matter():
    module = mlir.parse_module(
        'module attributes {sdy.version = #sdy.version<"1">} {\n'
        'func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})\n'
        "-> tensor<4xf32> { %0 = stablehlo.negate %a {sdy.rule = #sdy.rule<1>} : tensor<4xf32>\n"
        "return %0 : tensor<4xf32> } }"
    )
    check(module)
    lower(module)


def test_contents_that_stand_apart():
    module = mlir.parse_module(
        """
        func.func @main() -> tensor<2x2xf32> {
          %0 = stablehlo.constant dense_resource<"my blob"> : tensor<2x2xf32>
          return %0 : tensor<2x2xf32>
        }
        {-# dialect_resources: { builtin: {
          other: "0x0400000000000000", "my blob": "0x040000000000803F000000400000404000008040"
        } } #-}
        """
    )
    (result,) = Evaluator(module)("main", [])
    assert result.tolist() == [[1, 2], [3, 4]]


def test_arrays_that_a_target_lacks():
    module = mlir.parse_module(
        """
        func.func @main(%x: tensor<4xf32>) -> tensor<4xi4> {
          %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi4>
          return %0 : tensor<4xi4>
        }
        """
    )
    check(module)
    with pytest.raises(UnsupportedOp, match=r"result 0 of main is tensor<4xi4>: .* of int4"):
        lower(module, target="iree-vulkan")
