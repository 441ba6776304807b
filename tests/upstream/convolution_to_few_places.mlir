// A result smaller than the window, as the gradient with respect to a kernel is.
// EXPECT: slow
// INPUT: [1.0, -1.0, 0.5]
// INPUT: [0.5, 0.25, -1.0]
func.func @main(%x: tensor<8x32x32x16xf32>, %y: tensor<30x30x16x16xf32>) -> tensor<8x3x3x16xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x32x32x16xf32>, tensor<30x30x16x16xf32>) -> tensor<8x3x3x16xf32>
  return %0 : tensor<8x3x3x16xf32>
}
