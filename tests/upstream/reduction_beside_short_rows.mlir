// IREE's vectors are along rows of three numbers, and mostly empty.
// EXPECT: slow
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<1000x3xf32>) -> tensor<1000x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<1000x3xf32>) -> tensor<1000x1000x3xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<1000x3xf32>) -> tensor<1000x1000x3xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<1000x1000x3xf32>
  %3 = stablehlo.abs %2 : tensor<1000x1000x3xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1000x1000x3xf32>, tensor<f32>) -> tensor<1000x3xf32>
  return %4 : tensor<1000x3xf32>
}
