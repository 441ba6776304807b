// IREE does not compile a fold whose init value is used elsewhere, too.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: right
// INPUT: [1.0]
// INPUT: [2.0]
func.func @main(%x: tensor<2x9xf32>, %i: tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {
  %c = stablehlo.negate %i : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x9xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %c : tensor<2xf32>, tensor<f32>
}
