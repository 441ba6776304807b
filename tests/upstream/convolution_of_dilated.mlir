// IREE multiplies with the zeros between elements that are put apart.
// EXPECT: slow
// INPUT: [1.0, -1.0, 0.5]
// INPUT: [0.5, 0.25, -1.0]
func.func @main(%x: tensor<4x16x16x32xf32>, %y: tensor<3x3x32x32xf32>) -> tensor<4x31x31x32xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x32xf32>, tensor<3x3x32x32xf32>) -> tensor<4x31x31x32xf32>
  return %0 : tensor<4x31x31x32xf32>
}
