// Forward mode of reductions.

// The sum is linear: d sum(x) = sum(dx)
// RUN: --pipeline "jvp{func=sum},cse"
func.func @sum(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @sum.jvp([[X:%\w+]]: tensor<3x4xf32>, [[DX:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[REDUCE_2:%\w+]] = stablehlo.reduce([[DX]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   return [[REDUCE]], [[REDUCE_2]] : tensor<3xf32>, tensor<3xf32>

// The maximum moves with the elements that attain it: the mean of their tangents, over ties.
// RUN: --pipeline "jvp{func=max},cse"
func.func @max(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %y = stablehlo.reduce(%x init: %0) applies stablehlo.maximum across dimensions = [1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @max.jvp([[X:%\w+]]: tensor<3x4xf32>, [[DX:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[C]]) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[REDUCE]], dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare EQ, [[X]], [[BROADCAST]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT:   [[COMPARE_2:%\w+]] = stablehlo.compare NE, [[BROADCAST]], [[BROADCAST]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE_2]], [[COMPARE_2]], [[COMPARE]] : tensor<3x4xi1>, tensor<3x4xi1>
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[SELECT]] : (tensor<3x4xi1>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE_2:%\w+]] = stablehlo.reduce([[CONVERT]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[NAN:%\w+]] = stablehlo.constant dense<0x7FC00000> : tensor<3xf32>
// CHECK-NEXT:   [[COMPARE_3:%\w+]] = stablehlo.compare NE, [[REDUCE]], [[REDUCE]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
// CHECK-NEXT:   [[SELECT_2:%\w+]] = stablehlo.select [[COMPARE_3]], [[NAN]], [[REDUCE_2]] : tensor<3xi1>, tensor<3xf32>
// CHECK-NEXT:   [[ZERO_2:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<3x4xf32>
// CHECK-NEXT:   [[SELECT_3:%\w+]] = stablehlo.select [[SELECT]], [[DX]], [[ZERO_2]] : tensor<3x4xi1>, tensor<3x4xf32>
// CHECK-NEXT:   [[REDUCE_3:%\w+]] = stablehlo.reduce([[SELECT_3]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[REDUCE_3]], [[SELECT_2]] : tensor<3xf32>
// CHECK-NEXT:   return [[REDUCE]], [[DIVIDE]] : tensor<3xf32>, tensor<3xf32>

// A product of two elements: d (x0 x1) = dx0 x1 + x0 dx1, and no division, so that zeros do no harm
// RUN: --pipeline "jvp{func=product},simplify,cse"
func.func @product(%x: tensor<2xf32>) -> tensor<f32> {
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %1) applies stablehlo.multiply across dimensions = [0]
    : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
// CHECK:      func.func @product.jvp([[X:%\w+]]: tensor<2xf32>, [[DX:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[ONE]]) applies stablehlo.multiply across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   [[SLICE:%\w+]] = stablehlo.slice [[X]] [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[SLICE_2:%\w+]] = stablehlo.slice [[DX]] [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[SLICE_3:%\w+]] = stablehlo.slice [[X]] [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[SLICE_4:%\w+]] = stablehlo.slice [[DX]] [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[SLICE_2]], [[SLICE_3]] : tensor<1xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[SLICE]], [[SLICE_4]] : tensor<1xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[MULTIPLY]], [[MULTIPLY_2]] : tensor<1xf32>
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[ADD]] : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT:   return [[REDUCE]], [[RESHAPE]] : tensor<f32>, tensor<f32>
