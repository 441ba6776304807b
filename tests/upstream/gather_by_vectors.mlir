// IREE gathers element by element, and computes the place of each element anew.
// EXPECT: slow
// INPUT: [1.0, 2.0, 3.0]
// INPUT: [5, 3999, 77, 1234, 2000]
func.func @main(%x: tensor<4000x251xf32>, %i: tensor<4000x1xi32>) -> tensor<4000x251xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 251>}> : (tensor<4000x251xf32>, tensor<4000x1xi32>) -> tensor<4000x251xf32>
  return %0 : tensor<4000x251xf32>
}
