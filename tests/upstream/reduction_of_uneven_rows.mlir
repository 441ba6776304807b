// Rows whose length is no multiple of a vector's: IREE folds the exponentials, whole rows of them,
// element by element.
// EXPECT: slow
// INPUT: [1.0, 0.5, 0.25]
func.func @main(%x: tensor<1000x1001xf32>) -> tensor<1000xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<1000x1001xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1000x1001xf32>, tensor<f32>) -> tensor<1000xf32>
  return %1 : tensor<1000xf32>
}
