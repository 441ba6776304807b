// IREE's compiler divides by zero where there are no updates.
// EXPECT: crashes
// INPUT: [1.0, 2.0]
// INPUT: [0]
// INPUT: [0.0]
func.func @main(%x: tensor<4xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
