// RUN: --pipeline "legalize{target=iree-cpu}"

// Cholesky factorizations are LAPACK's.
func.func @few(%x: tensor<64x5x5xf32>, %y: tensor<99x64x64xf32>) -> (tensor<64x5x5xf32>, tensor<99x64x64xf32>) {
  %0 = stablehlo.cholesky %x, lower = true : tensor<64x5x5xf32>
  %1 = stablehlo.cholesky %y, lower = false : tensor<99x64x64xf32>
  return %0, %1 : tensor<64x5x5xf32>, tensor<99x64x64xf32>
}
// CHECK:      func.func @few
// CHECK-NEXT:   stablehlo.custom_call @irax_host.cholesky(%arg0)
// CHECK-SAME:     lower = 1
// CHECK-NEXT:   stablehlo.custom_call @irax_host.cholesky(%arg1)
// CHECK-SAME:     lower = 0

// A block is inverted by halves, those of all matrices at once.
func.func @triangular_solve(%a: tensor<64x8x8xf32>, %b: tensor<64x8x3xf32>) -> tensor<64x8x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<64x8x8xf32>, tensor<64x8x3xf32>) -> tensor<64x8x3xf32>
  return %0 : tensor<64x8x3xf32>
}
// CHECK:      func.func @triangular_solve
// CHECK:        stablehlo.divide {{.*}} : tensor<512x1x1xf32>
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<64x8x3xf32>
// CHECK-NOT:    dot_general

// A few are BLAS's.
func.func @large_solve(%a: tensor<64x64xf32>, %b: tensor<3x64xf32>) -> tensor<3x64xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<64x64xf32>, tensor<3x64xf32>) -> tensor<3x64xf32>
  return %0 : tensor<3x64xf32>
}
// CHECK:      func.func @large_solve
// CHECK-NEXT:   stablehlo.custom_call @irax_host.triangular_solve(%arg0, %arg1)
// CHECK-SAME:     transpose_a = 2
