// IREE crashes where batches of indices lie after the dimension of the index vectors.
// EXPECT: crashes
// INPUT: [1.0, 2.0, 3.0]
// INPUT: [0, 1]
func.func @main(%arg0: tensor<3x2x4xf64>, %arg1: tensor<3x2x2xi32>) -> tensor<3x2x2x3xf64> {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 3], operand_batching_dims = [1], start_indices_batching_dims = [2], start_index_map = [2, 0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1, 3>}> : (tensor<3x2x4xf64>, tensor<3x2x2xi32>) -> tensor<3x2x2x3xf64>
  return %0 : tensor<3x2x2x3xf64>
}
