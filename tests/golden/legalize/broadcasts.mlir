// A broadcast that only permutes dimensions is a transpose; `canonicalize` would take the wrong one.
// RUN: --pipeline "canonicalize"
func.func @permuting_broadcast(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
// CHECK:      func.func @permuting_broadcast
// CHECK-NEXT:   stablehlo.transpose %arg0, dims = [2, 0, 1]

// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @broadcast_that_repeats(%x: tensor<2x1x4xf32>) -> tensor<4x2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x1x4xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
// CHECK:      func.func @broadcast_that_repeats
// CHECK-NEXT:   stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 0]

// What is broadcast many times is transposed before, where a vector of the result would be a column.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @broadcast_of_columns(%x: tensor<300x16xf32>) -> (tensor<16x100x300xf32>, tensor<16x300x100xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<300x16xf32>) -> tensor<16x100x300xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<300x16xf32>) -> tensor<16x300x100xf32>
  return %0, %1 : tensor<16x100x300xf32>, tensor<16x300x100xf32>
}
// CHECK:      func.func @broadcast_of_columns
// CHECK-NEXT:   [[ROWS:%\w+]] = stablehlo.transpose %arg0, dims = [1, 0]
// CHECK-NEXT:   stablehlo.broadcast_in_dim [[ROWS]], dims = [0, 2]
// CHECK-NEXT:   stablehlo.broadcast_in_dim %arg0, dims = [1, 0]
