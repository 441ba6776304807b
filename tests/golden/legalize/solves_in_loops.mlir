// RUN: --pipeline "legalize{target=iree-cpu loops=later}"

// Small factorizations and solves stay as they are in loops, which may become kernels with these in
// them; elsewhere they are kernels, or unrolled, as those of four rows and fewer are in loops.
func.func @solves(%x: tensor<8x8xf32>, %y: tensor<200x200xf32>, %z: tensor<2x2xf32>) -> (tensor<8x8xf32>, tensor<200x200xf32>, tensor<2x2xf32>, tensor<8x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %before = stablehlo.cholesky %x, lower = true : tensor<8x8xf32>
  %0:4 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %c = %z) : tensor<i32>, tensor<8x8xf32>, tensor<200x200xf32>, tensor<2x2xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.cholesky %a, lower = true : tensor<8x8xf32>
    %3 = "stablehlo.triangular_solve"(%2, %a) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.cholesky %b, lower = true : tensor<200x200xf32>
    %5 = stablehlo.cholesky %c, lower = true : tensor<2x2xf32>
    stablehlo.return %1, %3, %4, %5 : tensor<i32>, tensor<8x8xf32>, tensor<200x200xf32>, tensor<2x2xf32>
  }
  return %0#1, %0#2, %0#3, %before : tensor<8x8xf32>, tensor<200x200xf32>, tensor<2x2xf32>, tensor<8x8xf32>
}
// CHECK:      func.func @solves
// CHECK:        flow.dispatch @cholesky_1_
// CHECK:        stablehlo.while
// CHECK:        } do {
// CHECK:          [[FACTOR:%\w+]] = stablehlo.cholesky {{%\w+}}, lower = true : tensor<8x8xf32>
// CHECK:          stablehlo.triangular_solve"([[FACTOR]], {{%\w+}})
// CHECK:          stablehlo.custom_call @irax_host.cholesky{{.*}} -> tensor<200x200xf32>
// CHECK:          stablehlo.sqrt {{%\w+}} : tensor<1x1x1xf32>
// CHECK-NOT:      stablehlo.cholesky
