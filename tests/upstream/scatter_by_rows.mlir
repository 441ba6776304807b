// IREE writes outside of the array where an index lies beyond it, instead of nowhere.
// ISSUE: https://github.com/iree-org/iree/issues/13580
// EXPECT: crashes
// INPUT: [1.0, 2.0, 3.0, 4.0]
// INPUT: [1000000000, 1]
// INPUT: [5.0, 6.0]
func.func @main(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
