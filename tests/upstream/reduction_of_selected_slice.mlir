// IREE's compiler crashes on some folds along with what chooses from a part of an array.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: right
// INPUT: [1.0]
// INPUT: [True]
func.func @main(%x: tensor<8x9xf32>, %p: tensor<8x7xi1>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<8x7xf32>
  %0 = stablehlo.slice %x [0:8, 0:7] : (tensor<8x9xf32>) -> tensor<8x7xf32>
  %1 = stablehlo.select %p, %0, %z : tensor<8x7xi1>, tensor<8x7xf32>
  %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
