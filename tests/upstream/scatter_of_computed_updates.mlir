// IREE does not compile a scatter that accumulates float64 along with the gather of its updates.
// TARGETS: iree-cuda, iree-hip
// EXPECT: refused
// INPUT: [1.0]
// INPUT: [1.0, 2.0]
// INPUT: [1, 2]
func.func @main(%x: tensor<4x2xf64>, %y: tensor<4x2xf64>, %i: tensor<2x1xi32>) -> tensor<4x2xf64> {
  %0 = "stablehlo.gather"(%y, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xf64>, tensor<2x1xi32>) -> tensor<2x2xf64>
  %1 = "stablehlo.scatter"(%x, %i, %0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %2 = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %2 : tensor<f64>
  }) : (tensor<4x2xf64>, tensor<2x1xi32>, tensor<2x2xf64>) -> tensor<4x2xf64>
  return %1 : tensor<4x2xf64>
}
