// A result smaller than the window, as the gradient with respect to a kernel is: IREE takes many
// times as long as for a matrix product for each of the result's places.
// EXPECT: slow
// INPUT: [1.0, -1.0, 0.5]
// INPUT: [0.5, 0.25, -1.0]
func.func @main(%x: tensor<8x32x32x16xf32>, %y: tensor<8x30x30x16xf32>) -> tensor<3x3x16x16xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x32x32x16xf32>, tensor<8x30x30x16xf32>) -> tensor<3x3x16x16xf32>
  return %0 : tensor<3x3x16x16xf32>
}
