"""The driver that `annotate` chooses."""

import pytest

from irax_compiler import mlir
from irax_compiler.passes.host.annotate import reflection
from irax_compiler.pipeline import run_pipeline

SCAN = """
func.func public @main(%w: tensor<{n}x{n}xf32>, %h: tensor<{b}x{n}xf32>)
    -> tensor<400x{b}x{n}xf32> {{
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<400> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<400x{b}x{n}xf32>
  %0:3 = stablehlo.while(%i = %i0, %x = %h, %ys = %zeros)
      : tensor<i32>, tensor<{b}x{n}xf32>, tensor<400x{b}x{n}xf32>
   cond {{
    %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<{b}x{n}xf32>, tensor<{n}x{n}xf32>) -> tensor<{b}x{n}xf32>
    %z = stablehlo.tanh %y : tensor<{b}x{n}xf32>
    %row = stablehlo.reshape %z : (tensor<{b}x{n}xf32>) -> tensor<1x{b}x{n}xf32>
    %zs = stablehlo.dynamic_update_slice %ys, %row, %i, %i0, %i0
        : (tensor<400x{b}x{n}xf32>, tensor<1x{b}x{n}xf32>, tensor<i32>, tensor<i32>, tensor<i32>)
        -> tensor<400x{b}x{n}xf32>
    stablehlo.return %j, %z, %zs : tensor<i32>, tensor<{b}x{n}xf32>, tensor<400x{b}x{n}xf32>
  }}
  return %0#2 : tensor<400x{b}x{n}xf32>
}}
"""


@pytest.mark.parametrize(
    ("batch", "size", "driver"),
    [(8, 128, "sync"), (32, 256, "sync"), (1, 512, "sync"), (1, 1024, "task"), (32, 1024, "task")],
)
def test_steps_are_shared_if_their_products_are_large(batch: int, size: int, driver: str) -> None:
    module = mlir.parse_module(SCAN.format(b=batch, n=size))
    run_pipeline(module, "annotate")
    assert reflection(mlir.functions(module)["main"])["irax.driver"] == driver


@pytest.mark.parametrize(("rows", "driver"), [(1000, "sync"), (10000, "task")])
def test_reductions_are_shared_if_they_read_much(rows: int, driver: str) -> None:
    module = mlir.parse_module(f"""
        func.func public @main(%x: tensor<{rows}x1000xf32>) -> tensor<1000xf32> {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
              : (tensor<{rows}x1000xf32>, tensor<f32>) -> tensor<1000xf32>
          return %0 : tensor<1000xf32>
        }}""")
    run_pipeline(module, "annotate")
    assert reflection(mlir.functions(module)["main"])["irax.driver"] == driver


LOOPS = [("LT, %i, %end", 100, "moments"), ("LT, %i, %end", 1 << 30, "long")]
LOOPS.append(("LT, %y, %x", 100, "unknown"))


@pytest.mark.parametrize(("test", "limit", "takes"), LOOPS)
def test_loops_that_end_soon_need_not_be_interrupted(test: str, limit: int, takes: str) -> None:
    type_ = "tensor<i32>" if "%i" in test else "tensor<f32>"
    module = mlir.parse_module(f"""
        func.func public @main(%x: tensor<f32>) -> tensor<f32> {{
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %end = stablehlo.constant dense<{limit}> : tensor<i32>
          %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
          cond {{
            %p = stablehlo.compare LT, %y, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %q = stablehlo.compare {test} : ({type_}, {type_}) -> tensor<i1>
            %r = stablehlo.and %p, %q : tensor<i1>
            stablehlo.return %r : tensor<i1>
          }} do {{
            %j = stablehlo.add %i, %one : tensor<i32>
            %z = stablehlo.cosine %y : tensor<f32>
            stablehlo.return %j, %z : tensor<i32>, tensor<f32>
          }}
          return %0#1 : tensor<f32>
        }}""")
    run_pipeline(module, "annotate")
    assert reflection(mlir.functions(module)["main"])["irax.takes"] == takes
