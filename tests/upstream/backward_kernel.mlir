// IREE forgets to reverse the kernel where each group has one input feature.
// EXPECT: wrong
// SPEC: convolution: "`reversed_lhs_window = reverse(lhs_window, [input_spatial_dimensions[dim]
// SPEC: for dim in range(size(window_reversal)) if window_reversal[dim] = true])`."
// INPUT: [1.0, 2.0, 4.0, 0.5]
// INPUT: [1.0, 3.0, 0.5, 0.25, 2.0]
func.func @main(%x: tensor<2x9x3xf32>, %y: tensor<3x1x3xf32>) -> tensor<2x7x3xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x9x3xf32>, tensor<3x1x3xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}
