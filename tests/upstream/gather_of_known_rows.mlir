// IREE gathers element by element, and computes the place of each where it makes a kernel of that
// and what follows.
// EXPECT: right
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<64x128x128xf32>) -> tensor<8x128x128xf32> {
  %c = stablehlo.constant dense<[[1], [8], [15], [22], [29], [36], [43], [50]]> : tensor<8x1xi32>
  %0 = "stablehlo.gather"(%x, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 128, 128>}> : (tensor<64x128x128xf32>, tensor<8x1xi32>) -> tensor<8x128x128xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x128x128xf32>
  return %1 : tensor<8x128x128xf32>
}
