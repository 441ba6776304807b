// XLA's simplifier of scatters makes one into a scalar something that does not verify.
// TARGETS: pjrt
// EXPECT: refused
// INPUT: [1.0]
// INPUT: [0]
// INPUT: [2.0]
func.func @main(%x: tensor<f32>, %i: tensor<3x0xi32>, %u: tensor<3xf32>) -> tensor<f32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<f32>, tensor<3x0xi32>, tensor<3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
