// IREE reads outside of the array where an index lies beyond it.
// ISSUE: https://github.com/iree-org/iree/issues/24881
// EXPECT: crashes
// INPUT: [1.0, 2.0, 3.0, 4.0]
// INPUT: [1000000000, -1000000000]
func.func @main(%x: tensor<4xf32>, %i: tensor<2x1xi32>) -> tensor<2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
