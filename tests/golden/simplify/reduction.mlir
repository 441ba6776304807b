// Reductions.

// RUN: --pipeline "simplify"

// No element to add up: the init value
func.func @reduce_of_none(%x: tensor<0x3xcomplex<f64>>, %init: tensor<complex<f64>>) -> tensor<3xcomplex<f64>> {
  %a = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0]
    : (tensor<0x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
  return %a : tensor<3xcomplex<f64>>
}
// CHECK:      func.func @reduce_of_none({{.*}}, [[INIT:%\w+]]: tensor<complex<f64>>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[INIT]], dims = [] : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<3xcomplex<f64>>

// Not of inf: the sum of no copies of a number is 0
func.func @reduce_of_none.copies(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2xf32>) -> tensor<2x0xf32>
  %b = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
// CHECK:      func.func @reduce_of_none.copies
// CHECK-NEXT:   [[ZEROS:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:   return [[ZEROS]] : tensor<2xf32>

// One element to add up, or no dimension
func.func @reduce_of_one(%x: tensor<2x1x3x1xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1, 3]
    : (tensor<2x1x3x1xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b = stablehlo.reduce(%y init: %0) applies stablehlo.add across dimensions = []
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK:      func.func @reduce_of_one([[X:%\w+]]: tensor<2x1x3x1xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<2x3xf32>)
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[X]] : (tensor<2x1x3x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   return [[RESHAPE]], [[Y]] : tensor<2x3xf32>, tensor<2x3xf32>

// Over dimension 1, then over what were dimensions 0 and 3
func.func @reduce_of_reduce(%x: tensor<2x3x4x5xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %a = stablehlo.reduce(%x init: %0) applies stablehlo.maximum across dimensions = [1]
    : (tensor<2x3x4x5xf32>, tensor<f32>) -> tensor<2x4x5xf32>
  %b = stablehlo.reduce(%a init: %0) applies stablehlo.maximum across dimensions = [0, 2]
    : (tensor<2x4x5xf32>, tensor<f32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
// CHECK:      func.func @reduce_of_reduce([[X:%\w+]]: tensor<2x3x4x5xf32>)
// CHECK-NEXT:   [[MINUS_INF:%\w+]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[MINUS_INF]]) applies stablehlo.maximum across dimensions = [0, 1, 3] : (tensor<2x3x4x5xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[REDUCE]] : tensor<4xf32>

// The order does not matter of what is folded away
func.func @reduce_of_transpose(%x: tensor<2x3x4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %a = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %b = stablehlo.reduce(%a init: %0) applies stablehlo.maximum across dimensions = [0, 2]
    : (tensor<4x2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
// CHECK:      func.func @reduce_of_transpose([[X:%\w+]]: tensor<2x3x4xf32>)
// CHECK-NEXT:   [[MINUS_INF:%\w+]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[MINUS_INF]]) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   return [[REDUCE]] : tensor<2xf32>

// The sum of 2 * 4 equal terms
func.func @sum_of_broadcast(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
  %b = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0, 2]
    : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %b : tensor<3xf32>
}
// CHECK:      func.func @sum_of_broadcast([[X:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<8.000000e+00> : tensor<3xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[C]] : tensor<3xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<3xf32>

// ... in one dimension of a stretched one, and another stretched one that stays
func.func @sum_of_broadcast.partly(%x: tensor<3x1xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %b = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [2]
    : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}
// CHECK:      func.func @sum_of_broadcast.partly([[X:%\w+]]: tensor<3x1xf32>)
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[X]] : (tensor<3x1xf32>) -> tensor<3xf32>
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<4.000000e+00> : tensor<3xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[RESHAPE]], [[C]] : tensor<3xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[MULTIPLY]], dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<2x3xf32>
