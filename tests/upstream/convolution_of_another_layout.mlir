// Features that do not come last take IREE many times as long.
// EXPECT: slow
// INPUT: [1.0, -1.0, 0.5]
// INPUT: [0.5, 0.25, -1.0]
func.func @main(%x: tensor<4x32x32x32xf32>, %y: tensor<32x32x3x3xf32>) -> tensor<4x32x30x30xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x32x32x32xf32>, tensor<32x32x3x3xf32>) -> tensor<4x32x30x30xf32>
  return %0 : tensor<4x32x30x30xf32>
}
