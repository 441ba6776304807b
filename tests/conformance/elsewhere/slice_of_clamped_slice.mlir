// XLA adds the starts of two nested dynamic slices before the outer one is clamped.
// "adjusted_start_indices = clamp(0, start_indices, shape(operand) - slice_sizes)" is about each
// slice: four elements of eight from the seventh on begin at the fourth.
// WRONG: jaxlib 0.10.2
// INPUT: np.arange(8.0)
// INPUT: np.array(7, np.int32)
// INPUT: np.array(1, np.int32)
// NUMPY: a[4:8][1:3]
func.func @main(%a: tensor<8xf64>, %b: tensor<i32>, %c: tensor<i32>) -> tensor<2xf64> {
  %part = stablehlo.dynamic_slice %a, %b, sizes = [4] : (tensor<8xf64>, tensor<i32>) -> tensor<4xf64>
  %within = stablehlo.dynamic_slice %part, %c, sizes = [2]
    : (tensor<4xf64>, tensor<i32>) -> tensor<2xf64>
  return %within : tensor<2xf64>
}
