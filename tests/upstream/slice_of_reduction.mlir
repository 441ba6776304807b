// IREE does not compile some folds along with what takes a part of their results.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: right
// INPUT: [1.0]
func.func @main(%x: tensor<64x64xf32>) -> tensor<3xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.negate %0 : tensor<64xf32>
  %2 = stablehlo.slice %1 [1:7:2] : (tensor<64xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
