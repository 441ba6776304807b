// IREE has no cholesky.
// ISSUE: https://github.com/iree-org/iree/issues/10816
// EXPECT: refused
// INPUT: [4.0, 0.0, 2.0, 5.0]
func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
