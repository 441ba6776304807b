// XLA convolves no 64-bit integers on TPUs.
// TARGETS: tpu
// EXPECT: refused
// INPUT: [3]
// INPUT: [5]
func.func @main(%x: tensor<1x4x1xi64>, %y: tensor<2x1x1xi64>) -> tensor<1x3x1xi64> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi64>, tensor<2x1x1xi64>) -> tensor<1x3x1xi64>
  return %0 : tensor<1x3x1xi64>
}
