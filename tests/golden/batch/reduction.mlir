// Batching of reductions: over the same dimensions, counted with the mapped axis among them.

// RUN: --pipeline "batch{func=sum size=5}"
func.func @sum(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @sum.batch([[X:%\w+]]: tensor<5x3x4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[ZERO]]) applies stablehlo.add across dimensions = [2] : (tensor<5x3x4xf32>, tensor<f32>) -> tensor<5x3xf32>
// CHECK-NEXT:   return [[REDUCE]] : tensor<5x3xf32>

// Nothing moves for a mapped axis in the middle either
// RUN: --pipeline "batch{func=middle size=5 in_axes=1 out_axes=1}"
func.func @middle(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @middle.batch([[X:%\w+]]: tensor<3x5x4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[ZERO]]) applies stablehlo.add across dimensions = [2] : (tensor<3x5x4xf32>, tensor<f32>) -> tensor<3x5xf32>
// CHECK-NEXT:   return [[REDUCE]] : tensor<3x5xf32>
