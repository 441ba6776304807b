// Rows that a gather takes, of which a part is reversed and written back in its place: XLA reads the
// second half after the first was written, and makes the part a palindrome.
// WRONG: jaxlib 0.12.0.1
// INPUT: np.arange(6.0)
// INPUT: np.array([[5], [0], [3], [2], [4], [1]], np.int32)
// NUMPY: np.r_[a[b[:, 0]][:1], a[b[:, 0]][:0:-1]]
func.func @main(%a: tensor<6xf64>, %b: tensor<6x1xi32>) -> tensor<6xf64> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %taken = "stablehlo.gather"(%a, %b) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>,
    slice_sizes = array<i64: 1>
  }> : (tensor<6xf64>, tensor<6x1xi32>) -> tensor<6xf64>
  %part = stablehlo.slice %taken [1:6] : (tensor<6xf64>) -> tensor<5xf64>
  %back = stablehlo.reverse %part, dims = [0] : tensor<5xf64>
  %found = stablehlo.dynamic_update_slice %taken, %back, %one
    : (tensor<6xf64>, tensor<5xf64>, tensor<i32>) -> tensor<6xf64>
  return %found : tensor<6xf64>
}
