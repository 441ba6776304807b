// Columns are those of the arguments in `wrt`, one argument after the other.

// RUN: --pipeline "sparsity{func=main wrt=1,2}"
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {
  %0 = stablehlo.multiply %x, %y : tensor<2xf32>
  %1 = stablehlo.multiply %z, %z : tensor<f32>
  return %0, %1 : tensor<2xf32>, tensor<f32>
}
// CHECK:      func.func @main.sparsity() -> (tensor<3xi64>, tensor<3xi64>)
// CHECK-NEXT:   [[ROWS:%\w+]] = stablehlo.constant dense<[0, 1, 2]>
// CHECK-NEXT:   [[COLUMNS:%\w+]] = stablehlo.constant dense<[0, 1, 2]>
// CHECK-NEXT:   return [[ROWS]], [[COLUMNS]]
