// Transposes of ops that move elements: the cotangents move back, those that are left out of the
// result get zero, and those that were copied get a sum.

// RUN: --pipeline "transpose{func=transpose wrt=0}"
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %y = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}
// CHECK:      func.func @transpose.transpose([[CT:%\w+]]: tensor<4x2x3xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[CT]], dims = [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:   return [[TRANSPOSE]] : tensor<2x3x4xf32>

// RUN: --pipeline "transpose{func=reshape wrt=0}"
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %y = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
// CHECK:      func.func @reshape.transpose([[CT:%\w+]]: tensor<6xf32>)
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[CT]] : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   return [[RESHAPE]] : tensor<2x3xf32>

// Each element was copied along dimensions 0 and 2: the sum over them
// RUN: --pipeline "transpose{func=broadcast wrt=0}"
func.func @broadcast(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %y = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
// CHECK:      func.func @broadcast.transpose([[CT:%\w+]]: tensor<2x3x4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[CT]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   return [[REDUCE]] : tensor<3xf32>

// A dimension of one element that was stretched: summed, and there again
// RUN: --pipeline "transpose{func=stretch wrt=0}"
func.func @stretch(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %y = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// CHECK:      func.func @stretch.transpose([[CT:%\w+]]: tensor<2x3xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[CT]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[REDUCE]] : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT:   return [[RESHAPE]] : tensor<1x3xf32>

// x[1:6:2] of eight elements: 1 zero before, 2 after, 1 between
// RUN: --pipeline "transpose{func=slice wrt=0}"
func.func @slice(%x: tensor<8xf32>) -> tensor<3xf32> {
  %y = stablehlo.slice %x [1:6:2] : (tensor<8xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @slice.transpose([[CT:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[PAD:%\w+]] = stablehlo.pad [[CT]], [[ZERO]], low = [1], high = [2], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:   return [[PAD]] : tensor<8xf32>

// Padding is cut away
// RUN: --pipeline "transpose{func=pad wrt=0},simplify"
func.func @pad(%x: tensor<3xf32>) -> tensor<6xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %x, %0, low = [1], high = [2], interior = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
// CHECK:      func.func @pad.transpose([[CT:%\w+]]: tensor<6xf32>)
// CHECK-NEXT:   [[SLICE:%\w+]] = stablehlo.slice [[CT]] [1:4] : (tensor<6xf32>) -> tensor<3xf32>
// CHECK-NEXT:   return [[SLICE]] : tensor<3xf32>

// Each operand gets its part
// RUN: --pipeline "transpose{func=concatenate wrt=0,1}"
func.func @concatenate(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<5xf32> {
  %z = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
// CHECK:      func.func @concatenate.transpose([[CT:%\w+]]: tensor<5xf32>)
// CHECK-NEXT:   [[SLICE:%\w+]] = stablehlo.slice [[CT]] [0:3] : (tensor<5xf32>) -> tensor<3xf32>
// CHECK-NEXT:   [[SLICE_2:%\w+]] = stablehlo.slice [[CT]] [3:5] : (tensor<5xf32>) -> tensor<2xf32>
// CHECK-NEXT:   return [[SLICE]], [[SLICE_2]] : tensor<3xf32>, tensor<2xf32>
