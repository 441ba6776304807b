// IREE reads the columns of an array element by element, for each of the rows again.
// EXPECT: slow
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<1000x16xf32>) -> tensor<1000x1000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<1000x16xf32>) -> tensor<16x1000x1000xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<1000x16xf32>) -> tensor<16x1000x1000xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<16x1000x1000xf32>
  %3 = stablehlo.abs %2 : tensor<16x1000x1000xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x1000x1000xf32>, tensor<f32>) -> tensor<1000x1000xf32>
  return %4 : tensor<1000x1000xf32>
}
