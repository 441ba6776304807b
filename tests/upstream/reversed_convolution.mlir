// XLA takes a kernel backwards one element at a time on the processor.
// TARGETS: pjrt
// EXPECT: slow
// INPUT: [1.0, 2.0]
// INPUT: [0.5, 1.0]
func.func @main(%x: tensor<4x64x64x16xf32>, %y: tensor<3x3x16x16xf32>) -> tensor<4x62x62x16xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x64x64x16xf32>, tensor<3x3x16x16xf32>) -> tensor<4x62x62x16xf32>
  return %0 : tensor<4x62x62x16xf32>
}
