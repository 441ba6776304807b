// Groups of several features take longer than a product of matrices for each element of the window.
// EXPECT: slow
// INPUT: [1.0, -1.0, 0.5]
// INPUT: [0.5, 0.25, -1.0]
func.func @main(%x: tensor<4x32x32x64xf32>, %y: tensor<3x3x16x64xf32>) -> tensor<4x30x30x64xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<4x32x32x64xf32>, tensor<3x3x16x64xf32>) -> tensor<4x30x30x64xf32>
  return %0 : tensor<4x30x30x64xf32>
}
