// Threads do not wait for each other where something is computed along with small products of a
// batch.
// TARGETS: iree-vulkan
// EXPECT: right
// INPUT: [1.0]
// INPUT: [1.0]
func.func @main(%x: tensor<8x4x4xf32>, %y: tensor<8x4x4xf32>) -> tensor<8x4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<8x4x4xf32>
  %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [2] : (tensor<8x4x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
