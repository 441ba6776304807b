// Threads do not wait for each other where something is computed along with small products of a
// batch.
// TARGETS: iree-vulkan
// EXPECT: refused
// INPUT: [1.0]
// INPUT: [1.0]
// INPUT: [1.0]
func.func @main(%x: tensor<2x2x2x2xf32>, %y: tensor<2x2x3xf32>, %z: tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<2x2x2x2xf32>, tensor<2x2x3xf32>) -> tensor<2x2x2x3xf32>
  %1 = stablehlo.add %z, %0 : tensor<2x2x2x3xf32>
  return %1 : tensor<2x2x2x3xf32>
}
