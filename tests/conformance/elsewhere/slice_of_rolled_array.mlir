// A roll by a computed number of places, of which a part is taken: the start of the part, clamped to
// the rolled array, is clamped to the doubled one that the roll is taken from.
// WRONG: jaxlib 0.10.2
// INPUT: np.arange(8.0)
// INPUT: np.array(5, np.int32)
// INPUT: np.array(11, np.int32)
// NUMPY: np.roll(a, -5)[5:8]
func.func @main(%a: tensor<8xf64>, %b: tensor<i32>, %c: tensor<i32>) -> tensor<3xf64> {
  %twice = stablehlo.concatenate %a, %a, dim = 0 : (tensor<8xf64>, tensor<8xf64>) -> tensor<16xf64>
  %rolled = stablehlo.dynamic_slice %twice, %b, sizes = [8]
    : (tensor<16xf64>, tensor<i32>) -> tensor<8xf64>
  %part = stablehlo.dynamic_slice %rolled, %c, sizes = [3]
    : (tensor<8xf64>, tensor<i32>) -> tensor<3xf64>
  return %part : tensor<3xf64>
}
