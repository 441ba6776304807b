// IREE scatters element by element.
// EXPECT: slow
// INPUT: [5, 3999, 77, 1234, 2000]
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%i: tensor<8000x1xi32>, %u: tensor<8000x250xf32>) -> tensor<4000x250xf32> {
  %x = stablehlo.constant dense<0.0> : tensor<4000x250xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4000x250xf32>, tensor<8000x1xi32>, tensor<8000x250xf32>) -> tensor<4000x250xf32>
  return %0 : tensor<4000x250xf32>
}
