// IREE copies rows that do not fit its tiles slowly.
// EXPECT: slow
// INPUT: [1.0, 2.0, 3.0]
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<1000x500xf32>, %y: tensor<1000x501xf32>) -> tensor<1000x1001xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<1000x500xf32>, tensor<1000x501xf32>) -> tensor<1000x1001xf32>
  return %0 : tensor<1000x1001xf32>
}
