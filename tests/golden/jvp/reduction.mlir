// Forward mode of reductions.

// The sum is linear: d sum(x) = sum(dx)
// RUN: --pipeline "jvp{func=sum},cse"
func.func @sum(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @sum.jvp([[X:%.+]]: tensor<3x4xf32>, [[DX:%.+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[ZERO:%.+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%.+]] = stablehlo.reduce([[X]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[REDUCE_2:%.+]] = stablehlo.reduce([[DX]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   return [[REDUCE]], [[REDUCE_2]]

// The maximum moves with the elements that attain it: the mean of their tangents, over ties.
// RUN: --pipeline "jvp{func=max},cse"
func.func @max(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %y = stablehlo.reduce(%x init: %0) applies stablehlo.maximum across dimensions = [1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @max.jvp([[X:%.+]]: tensor<3x4xf32>, [[DX:%.+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[MINUS_INF:%.+]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%.+]] = stablehlo.reduce([[X]] init: [[MINUS_INF]]) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[BROADCAST:%.+]] = stablehlo.broadcast_in_dim [[REDUCE]], dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[COMPARE:%.+]] = stablehlo.compare EQ, [[X]], [[BROADCAST]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT:   [[CONVERT:%.+]] = stablehlo.convert [[COMPARE]] : (tensor<3x4xi1>) -> tensor<3x4xf32>
// CHECK-NEXT:   [[ZERO:%.+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE_2:%.+]] = stablehlo.reduce([[CONVERT]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[ZERO_2:%.+]] = stablehlo.constant dense<0.000000e+00> : tensor<3x4xf32>
// CHECK-NEXT:   [[SELECT:%.+]] = stablehlo.select [[COMPARE]], [[DX]], [[ZERO_2]]
// CHECK-NEXT:   [[REDUCE_3:%.+]] = stablehlo.reduce([[SELECT]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[DIVIDE:%.+]] = stablehlo.divide [[REDUCE_3]], [[REDUCE_2]]
// CHECK-NEXT:   return [[REDUCE]], [[DIVIDE]]

// A product of two elements: d (x0 x1) = dx0 x1 + x0 dx1, and no division, so that zeros do no harm
// RUN: --pipeline "jvp{func=product},simplify,cse"
func.func @product(%x: tensor<2xf32>) -> tensor<f32> {
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %1) applies stablehlo.multiply across dimensions = [0]
    : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
// CHECK:      func.func @product.jvp([[X:%.+]]: tensor<2xf32>, [[DX:%.+]]: tensor<2xf32>)
// CHECK-NEXT:   [[ONE:%.+]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%.+]] = stablehlo.reduce([[X]] init: [[ONE]]) applies stablehlo.multiply across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   [[SLICE:%.+]] = stablehlo.slice [[X]] [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[SLICE_2:%.+]] = stablehlo.slice [[DX]] [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[SLICE_3:%.+]] = stablehlo.slice [[X]] [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[SLICE_4:%.+]] = stablehlo.slice [[DX]] [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT:   [[MULTIPLY:%.+]] = stablehlo.multiply [[SLICE_2]], [[SLICE_3]]
// CHECK-NEXT:   [[MULTIPLY_2:%.+]] = stablehlo.multiply [[SLICE]], [[SLICE_4]]
// CHECK-NEXT:   [[ADD:%.+]] = stablehlo.add [[MULTIPLY]], [[MULTIPLY_2]]
// CHECK-NEXT:   [[RESHAPE:%.+]] = stablehlo.reshape [[ADD]] : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT:   return [[REDUCE]], [[RESHAPE]]
