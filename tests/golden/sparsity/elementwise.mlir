// The places of a Jacobian's elements: rows, then columns.

// RUN: --pipeline "sparsity{func=main}"
// x[1:] * sin(x[:-1])
func.func @main(%x: tensor<4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.slice %x [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %1 = stablehlo.slice %x [0:3] : (tensor<4xf32>) -> tensor<3xf32>
  %2 = stablehlo.sine %1 : tensor<3xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<3xf32>
  return %3 : tensor<3xf32>
}
// CHECK:      func.func @main.sparsity() -> (tensor<6xi64>, tensor<6xi64>)
// CHECK-NEXT:   [[ROWS:%\w+]] = stablehlo.constant dense<[0, 0, 1, 1, 2, 2]>
// CHECK-NEXT:   [[COLUMNS:%\w+]] = stablehlo.constant dense<[0, 1, 1, 2, 2, 3]>
// CHECK-NEXT:   return [[ROWS]], [[COLUMNS]]
