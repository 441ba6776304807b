"""Modules in the form of HLO's text."""

from irax_compiler import mlir
from irax_compiler.hlo_text import hlo_text

MODULE = """
func.func @double(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @f(%x: tensor<2xi32>, %n: tensor<bf16>) -> (tensor<2xi32>, tensor<i1>) {
  %0 = func.call @double(%x) : (tensor<2xi32>) -> tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.compare LT, %1, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0, %2 : tensor<2xi32>, tensor<i1>
}
"""

EXPECTED = """\
HloModule f

double.5 {
  Arg_0.3 = s32[2] parameter(0)
  ROOT add.4 = s32[2] add(Arg_0.3, Arg_0.3)
}

reduce_region.11 {
  Arg_0.8 = s32[] parameter(0)
  Arg_1.9 = s32[] parameter(1)
  ROOT add.10 = s32[] add(Arg_0.8, Arg_1.9)
}

ENTRY f.15 {
  Arg_0.1 = s32[2] parameter(0)
  Arg_1.2 = bf16[] parameter(1)
  call.6 = s32[2] call(Arg_0.1), to_apply=double.5
  constant.7 = s32[] constant(dense<0> : tensor<i32>)
  reduce.12 = s32[] reduce(call.6, constant.7), dimensions=array<i64: 0>, to_apply=reduce_region.11
  compare.13 = pred[] compare(reduce.12, constant.7), \
comparison_direction=#stablehlo<comparison_direction LT>
  ROOT tuple.14 = (s32[2], pred[]) tuple(call.6, compare.13)
}"""


def test_calls_regions_and_several_results():
    assert hlo_text(mlir.parse_module(MODULE), "f") == EXPECTED
