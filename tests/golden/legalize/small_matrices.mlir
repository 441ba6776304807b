// RUN: --pipeline "legalize{target=iree-cpu},canonicalize,cse"

// Matrices of a few rows are solved by sums that are written out.
func.func @triangular_solve(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// CHECK:      func.func @triangular_solve
// CHECK-NOT:    triangular_solve
// CHECK:        [[FIRST:%\w+]] = stablehlo.divide
// CHECK:        [[KNOWN:%\w+]] = stablehlo.multiply {{.*}}, [[FIRST]]
// CHECK:        [[REST:%\w+]] = stablehlo.subtract {{.*}}, [[KNOWN]]
// CHECK:        [[SECOND:%\w+]] = stablehlo.divide [[REST]]
// CHECK:        stablehlo.concatenate [[FIRST]], [[SECOND]]

func.func @cholesky(%x: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}
// CHECK:      func.func @cholesky
// CHECK-NOT:    stablehlo.cholesky
// CHECK-COUNT-2: stablehlo.sqrt
