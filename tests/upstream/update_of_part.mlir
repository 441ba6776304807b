// A slice that leaves elements out of a row cannot be fused into an update.
// EXPECT: right
// INPUT: [0.0]
// INPUT: [2, 1]
// INPUT: [7.0, 8.0]
func.func @main(%x: tensor<4x6xf32>, %i: tensor<2x1xi32>, %u: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.slice %x [0:4, 1:4] : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %n = stablehlo.sine %0 : tensor<4x3xf32>
  %1 = "stablehlo.scatter"(%n, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
