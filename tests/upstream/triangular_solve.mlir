// IREE has no triangular_solve.
// ISSUE: https://github.com/iree-org/iree/issues/11018
// EXPECT: refused
// INPUT: [2.0, 0.0, 1.0, 4.0]
// INPUT: [2.0, 5.0]
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}
