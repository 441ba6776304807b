// IREE does not compile some scatters along with what computes their updates.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: right
// INPUT: [1.0]
// INPUT: [1, 2]
// INPUT: [2.0]
func.func @main(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %v: tensor<1xf32>) -> tensor<4xf32> {
  %u = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<1xf32>) -> tensor<2xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
