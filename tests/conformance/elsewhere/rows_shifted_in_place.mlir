// Rows that a gather takes, moved by one place within themselves: XLA writes them over the buffer that
// they are read from, and finds the first row everywhere.
// WRONG: jaxlib 0.10.2, jaxlib 0.12.0.1
// INPUT: np.arange(12.0).reshape(6, 2)
// INPUT: np.array([[5], [0], [3], [2], [4], [1]], np.int32)
// NUMPY: np.r_[a[b[:, 0]][:1], a[b[:, 0]][:-1]]
func.func @main(%a: tensor<6x2xf64>, %b: tensor<6x1xi32>) -> tensor<6x2xf64> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %rows = "stablehlo.gather"(%a, %b) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>
  }> : (tensor<6x2xf64>, tensor<6x1xi32>) -> tensor<6x2xf64>
  %part = stablehlo.slice %rows [0:5, 0:2] : (tensor<6x2xf64>) -> tensor<5x2xf64>
  %moved = stablehlo.dynamic_update_slice %rows, %part, %one, %zero
    : (tensor<6x2xf64>, tensor<5x2xf64>, tensor<i32>, tensor<i32>) -> tensor<6x2xf64>
  return %moved : tensor<6x2xf64>
}
