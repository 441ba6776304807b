// Three spatial dimensions take IREE longer than a sum of convolutions of two.
// EXPECT: slow
// INPUT: [1.0, -1.0, 0.5]
// INPUT: [0.5, 0.25, -1.0]
func.func @main(%x: tensor<2x16x16x16x16xf32>, %y: tensor<3x3x3x16x16xf32>) -> tensor<2x14x14x14x16xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x16x16xf32>, tensor<3x3x3x16x16xf32>) -> tensor<2x14x14x14x16xf32>
  return %0 : tensor<2x14x14x14x16xf32>
}
