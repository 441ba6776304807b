// IREE sums in the dtype of the result: the 257th one changes a sum of bfloat16 no more.
// EXPECT: wrong
// SPEC: The specification does not say in which type sums are computed; XLA widens them.
// INPUT: [1.0]
// INPUT: [1.0]
// TOLERANCE: 0.01
func.func @main(%x: tensor<1x600x1xbf16>, %y: tensor<600x1x1xbf16>) -> tensor<1x1x1xbf16> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x600x1xbf16>, tensor<600x1x1xbf16>) -> tensor<1x1x1xbf16>
  return %0 : tensor<1x1x1xbf16>
}
