// CHIP: x86-64-v4
// RUN: --pipeline "loops"

// Slices between elementwise operations, and numbers of the step, divide no loop over the elements: one
// computes the sum of neighbours, with the scale, and another puts it into the array.
func.func @stencil(%x: tensor<64x66xf32>) -> tensor<64x66xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<64x66xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.slice %y [0:64, 0:64] : (tensor<64x66xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.slice %y [0:64, 2:66] : (tensor<64x66xf32>) -> tensor<64x64xf32>
    %3 = stablehlo.add %1, %2 : tensor<64x64xf32>
    %4 = stablehlo.slice %y [0:64, 1:65] : (tensor<64x66xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.add %3, %4 : tensor<64x64xf32>
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %6 = stablehlo.convert %k1 : (tensor<i32>) -> tensor<f32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %8 = stablehlo.divide %5, %7 : tensor<64x64xf32>
    %9 = stablehlo.dynamic_update_slice %y, %8, %zero, %one : (tensor<64x66xf32>, tensor<64x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x66xf32>
    stablehlo.return %k1, %9 : tensor<i32>, tensor<64x66xf32>
  }
  return %0#1 : tensor<64x66xf32>
}
// CHECK:         scf.while
// CHECK:           } do {
// CHECK:           arith.sitofp
// CHECK-COUNT-2:   scf.for
// CHECK:             arith.addf
// CHECK-NOT:         vector.store
// CHECK:             arith.addf
// CHECK-NOT:         vector.store
// CHECK:             arith.divf
// CHECK:             vector.store
// CHECK-COUNT-2:   scf.for
// CHECK-NOT:       scf.for
// CHECK:           scf.yield
