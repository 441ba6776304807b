// CHIP: x86-64-v4
// RUN: --pipeline "loops"

// A column that is read many times is put side by side before: elements at a distance would be read one
// by one, each time again.
func.func @columns(%x: tensor<200x3xf32>, %w: tensor<200x200xf32>) -> tensor<200x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<200x3xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %1 = stablehlo.slice %y [0:200, 1:2] : (tensor<200x3xf32>) -> tensor<200x1xf32>
    %2 = stablehlo.reshape %1 : (tensor<200x1xf32>) -> tensor<200xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<200xf32>) -> tensor<200x200xf32>
    %4 = stablehlo.multiply %3, %w : tensor<200x200xf32>
    %5 = stablehlo.reduce(%4 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<200x200xf32>, tensor<f32>) -> tensor<200xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<200xf32>) -> tensor<200x3xf32>
    stablehlo.return %k1, %6 : tensor<i32>, tensor<200x3xf32>
  }
  return %0#1 : tensor<200x3xf32>
}
// CHECK:         scf.while
// CHECK:           scf.for
// CHECK-COUNT-16:    memref.load
// CHECK:             vector.store {{.*}}, [[COLUMN:%\w+]][
// CHECK-SAME:          vector<16xf32>
// CHECK:           scf.for
// CHECK:             vector.load [[COLUMN]][
// CHECK:             arith.mulf
// CHECK-NOT:         memref.load
// CHECK:             vector.store {{.*}} vector<16xf32>
