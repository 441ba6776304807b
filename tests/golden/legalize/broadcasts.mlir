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
