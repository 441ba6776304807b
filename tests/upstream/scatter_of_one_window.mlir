// IREE does not take windows of several elements along an indexed dimension.
// EXPECT: refused
// INPUT: [1.0, 2.0]
// INPUT: [2]
// INPUT: [5.0, 6.0]
func.func @main(%x: tensor<6x3xf32>, %i: tensor<1x1xi32>, %u: tensor<1x2x3xf32>) -> tensor<6x3xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6x3xf32>, tensor<1x1xi32>, tensor<1x2x3xf32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}
