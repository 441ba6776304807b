// RUN: --pipeline "legalize{target=iree-cpu}"

// Small matrices are factored in a kernel, which workgroups share; Cholesky factorizations of larger
// ones are LAPACK's.
func.func @few(%x: tensor<2x3x5x5xf32>, %y: tensor<99x65x65xf32>) -> (tensor<2x3x5x5xf32>, tensor<99x65x65xf32>) {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x3x5x5xf32>
  %1 = stablehlo.cholesky %y, lower = false : tensor<99x65x65xf32>
  return %0, %1 : tensor<2x3x5x5xf32>, tensor<99x65x65xf32>
}
// CHECK:      func.func @cholesky_6_
// CHECK:        scf.for
// CHECK:          math.sqrt
// CHECK:      func.func @few
// CHECK-NEXT:   [[X:%\w+]] = stablehlo.reshape %arg0 : (tensor<2x3x5x5xf32>) -> tensor<6x5x5xf32>
// CHECK-NEXT:   [[FACTORS:%\w+]] = flow.dispatch @cholesky_6_{{\w+}}::@cholesky_6_{{\w+}}([[X]])
// CHECK-NEXT:   stablehlo.reshape [[FACTORS]] : (tensor<6x5x5xf32>) -> tensor<2x3x5x5xf32>
// CHECK-NEXT:   stablehlo.custom_call @irax_host.cholesky(%arg1)
// CHECK-SAME:     lower = 0

// A block of complex numbers is inverted by halves, those of all matrices at once.
func.func @triangular_solve(%a: tensor<64x8x8xcomplex<f32>>, %b: tensor<64x8x3xcomplex<f32>>) -> tensor<64x8x3xcomplex<f32>> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<64x8x8xcomplex<f32>>, tensor<64x8x3xcomplex<f32>>) -> tensor<64x8x3xcomplex<f32>>
  return %0 : tensor<64x8x3xcomplex<f32>>
}
// CHECK:      func.func @triangular_solve
// CHECK:        stablehlo.slice {{.*}} : (tensor<512x1x1xcomplex<f32>>) -> tensor<256x1x1xcomplex<f32>>
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<64x8x3xcomplex<f32>>
// CHECK-NOT:    dot_general

// A few are BLAS's.
func.func @large_solve(%a: tensor<65x65xf32>, %b: tensor<3x65xf32>) -> tensor<3x65xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<65x65xf32>, tensor<3x65xf32>) -> tensor<3x65xf32>
  return %0 : tensor<3x65xf32>
}
// CHECK:      func.func @large_solve
// CHECK-NEXT:   stablehlo.custom_call @irax_host.triangular_solve(%arg0, %arg1)
// CHECK-SAME:     transpose_a = 2

// Small triangles are solved with in a kernel.
func.func @small_solve(%a: tensor<8x8xf32>, %b: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
// CHECK:      func.func @small_solve
// CHECK:        flow.dispatch @triangular_solve_1_{{.*}} : (tensor<1x8x8xf32>, tensor<1x8x3xf32>) -> tensor<1x8x3xf32>
// CHECK-NOT:    custom_call
