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

// The blocks on the diagonal are inverted by halves; the second row of blocks needs the first.
func.func @triangular_solve(%a: tensor<64x64xf32>, %b: tensor<64x3xf32>) -> tensor<64x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<64x64xf32>, tensor<64x3xf32>) -> tensor<64x3xf32>
  return %0 : tensor<64x3xf32>
}
// CHECK:      func.func @triangular_solve
// CHECK:        stablehlo.divide {{.*}} : tensor<64x1x1xf32>
// CHECK:        [[FIRST:%\w+]] = stablehlo.dot_general {{.*}} -> tensor<1x32x3xf32>
// CHECK:        stablehlo.dot_general {{%\w+}}, [[FIRST]], {{.*}} -> tensor<1x32x3xf32>
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<1x32x3xf32>
// CHECK-NOT:    dot_general
