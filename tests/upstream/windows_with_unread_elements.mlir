// One window that leaves elements over: IREE drops the dimension, and forgets the stride.
// EXPECT: refused
// INPUT: [1.0, 2.0, 3.0, 4.0]
// INPUT: [1.0]
func.func @main(%x: tensor<1x4x1xf32>, %y: tensor<3x1x1xf32>) -> tensor<1x1x1xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}
