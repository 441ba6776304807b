// A sequence of one feature takes longer than the sum of its multiples.
// EXPECT: slow
// INPUT: [1.0, -1.0, 0.5]
// INPUT: [0.5, 0.25, -1.0]
func.func @main(%x: tensor<1x200000x1xf64>, %y: tensor<9x1x1xf64>) -> tensor<1x199992x1xf64> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x200000x1xf64>, tensor<9x1x1xf64>) -> tensor<1x199992x1xf64>
  return %0 : tensor<1x199992x1xf64>
}
