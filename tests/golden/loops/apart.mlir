// RUN: --pipeline "loops"

// Each workgroup runs the loop for a share of the elements, with its values on its stack. It reads
// %table whole.
func.func @main(%x: tensor<200x100xf32>, %table: tensor<50xf32>) -> (tensor<200x100xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<200x100xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %1 = stablehlo.convert %y : (tensor<200x100xf32>) -> tensor<200x100xi32>
    %2 = "stablehlo.gather"(%table, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1>}> : (tensor<50xf32>, tensor<200x100xi32>) -> tensor<200x100xf32>
    %3 = stablehlo.iota dim = 0 : tensor<200x100xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<200x100xf32>
    %y1 = stablehlo.add %y, %4 : tensor<200x100xf32>
    stablehlo.return %k1, %y1 : tensor<i32>, tensor<200x100xf32>
  }
  return %0#1, %0#0 : tensor<200x100xf32>, tensor<i32>
}
// CHECK:       stream.executable.export public @kernel workgroups()
// CHECK-NEXT:    arith.constant 5 : index
// CHECK:       func.func @kernel(
// CHECK:         memref.alloca() alignment = 64 : memref<4000xf32>
// CHECK:         scf.while
// CHECK:       func.func @main(%arg0: tensor<200x100xf32>, %arg1: tensor<50xf32>)
// CHECK-NOT:     stablehlo.while
// CHECK:         flow.dispatch @kernel::@kernel({{.*}}) : ({{.*}}) -> (tensor<1xi32>, tensor<20000xf32>)
// CHECK-NOT:   func.func private @share

// A step adds neighbours.
func.func @mixed(%x: tensor<20000xf32>) -> tensor<20000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<20000xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %1 = stablehlo.reverse %y, dims = [0] : tensor<20000xf32>
    %y1 = stablehlo.add %y, %1 : tensor<20000xf32>
    stablehlo.return %k1, %y1 : tensor<i32>, tensor<20000xf32>
  }
  return %0#1 : tensor<20000xf32>
}
// CHECK:       func.func @mixed(
// CHECK:         flow.dispatch @kernel_1::@kernel_1
