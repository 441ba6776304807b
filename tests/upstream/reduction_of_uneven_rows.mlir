// Of a softmax of rows whose length is no multiple of a vector's IREE folds the whole row for each
// element.
// EXPECT: slow
// INPUT: [1.0, 0.5, 0.25]
func.func @main(%x: tensor<128x1001xf32>) -> tensor<128x1001xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<128x1001xf32>, tensor<f32>) -> tensor<128xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<128xf32>) -> tensor<128x1001xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<128x1001xf32>
  %3 = stablehlo.exponential %2 : tensor<128x1001xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<128x1001xf32>, tensor<f32>) -> tensor<128xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<128xf32>) -> tensor<128x1001xf32>
  %6 = stablehlo.divide %3, %5 : tensor<128x1001xf32>
  return %6 : tensor<128x1001xf32>
}
