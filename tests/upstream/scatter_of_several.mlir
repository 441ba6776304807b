// IREE scatters into one array at a time.
// EXPECT: refused
// INPUT: [1.0]
// INPUT: [2.0]
// INPUT: [2]
// INPUT: [5.0]
// INPUT: [6.0]
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<1x1xi32>, %u: tensor<1xf32>, %v: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %1, %d : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<1x1xi32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
