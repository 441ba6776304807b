// A reverse or pad IREE cannot always fuse into a convolution.
// EXPECT: wrong
// SPEC: pad: "`operand[operand_index]` if `result_index = edge_padding_low + operand_index *
// SPEC: (interior_padding + 1)`", and then convolution.
// INPUT: [1.0, 2.0, 4.0]
// INPUT: [1.0, 3.0]
func.func @main(%x: tensor<2x5x3xf32>, %y: tensor<3x3x4xf32>) -> tensor<2x9x4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %x, %c, low = [0, 1, 0], high = [0, 0, 0], interior = [0, 1, 0] : (tensor<2x5x3xf32>, tensor<f32>) -> tensor<2x10x3xf32>
  %0 = stablehlo.convolution(%p, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x10x3xf32>, tensor<3x3x4xf32>) -> tensor<2x9x4xf32>
  return %0 : tensor<2x9x4xf32>
}
