// The matrices of a batch, and the operands of a barrier, are divided each by themselves.
// RUN: --pipeline "partition"
func.func @main(%x: tensor<8x3x3xf32>, %y: tensor<4xf32>) -> (tensor<8x3x3xf32>, tensor<4xf32>)
    attributes {irax.mesh = "data=2", irax.in_specs = [[["data"], [], []], [["data"]]], irax.out_specs = [unit, unit]} {
  %0 = stablehlo.cholesky %x, lower = true : tensor<8x3x3xf32>
  %1:2 = stablehlo.optimization_barrier %0, %y : tensor<8x3x3xf32>, tensor<4xf32>
  return %1#0, %1#1 : tensor<8x3x3xf32>, tensor<4xf32>
}
// CHECK:      func.func {{.*}}@main(%arg0: tensor<4x3x3xf32>, %arg1: tensor<2xf32>) -> (tensor<4x3x3xf32>, tensor<2xf32>)
// CHECK-NEXT:   [[FACTOR:%\w+]] = stablehlo.cholesky %arg0
// CHECK-NEXT:   [[BOTH:%\w+]]:2 = stablehlo.optimization_barrier [[FACTOR]], %arg1
// CHECK-NEXT:   return [[BOTH]]#0, [[BOTH]]#1
