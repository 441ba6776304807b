// IREE's compiler fails where there are no elements but padding.
// EXPECT: crashes
// INPUT: [1.0]
// INPUT: [1.0]
func.func @main(%x: tensor<1x2x0xf32>, %y: tensor<3x0x2xf32>) -> tensor<1x2x2xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x0xf32>, tensor<3x0x2xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}
