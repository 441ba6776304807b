// Small matrices are eliminated column by column, in a loop.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @cholesky(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<5x5xf32>
  return %0 : tensor<5x5xf32>
}
// CHECK:      func.func @cholesky
// CHECK:        stablehlo.while
// CHECK:          stablehlo.sqrt
// CHECK-NOT:    stablehlo.cholesky

// Larger ones are LAPACK's.
func.func @large_cholesky(%x: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x64x64xf32>
  return %0 : tensor<2x64x64xf32>
}
// CHECK:      func.func @large_cholesky
// CHECK-NEXT:   stablehlo.custom_call @irax_host.cholesky(%arg0)
// CHECK-SAME:     lower = 1

// A block is inverted by halves, all of a size at once.
func.func @triangular_solve(%a: tensor<32x32xf32>, %b: tensor<32x3xf32>) -> tensor<32x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<32x32xf32>, tensor<32x3xf32>) -> tensor<32x3xf32>
  return %0 : tensor<32x3xf32>
}
// CHECK:      func.func @triangular_solve
// CHECK:        stablehlo.divide {{.*}} : tensor<32x1x1xf32>
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<1x32x3xf32>
// CHECK-NOT:    dot_general

// Larger ones are BLAS's.
func.func @large_solve(%a: tensor<64x64xf32>, %b: tensor<3x64xf32>) -> tensor<3x64xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<64x64xf32>, tensor<3x64xf32>) -> tensor<3x64xf32>
  return %0 : tensor<3x64xf32>
}
// CHECK:      func.func @large_solve
// CHECK-NEXT:   stablehlo.custom_call @irax_host.triangular_solve(%arg0, %arg1)
// CHECK-SAME:     transpose_a = 2
