// Batching of ops that move elements: the mapped axis is one more dimension, which stays whole.

// RUN: --pipeline "batch{func=transpose size=5}"
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
// CHECK:      func.func @transpose.batch([[X:%\w+]]: tensor<5x2x3xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[X]], dims = [0, 2, 1] : (tensor<5x2x3xf32>) -> tensor<5x3x2xf32>
// CHECK-NEXT:   return [[TRANSPOSE]] : tensor<5x3x2xf32>

// A reshape takes the mapped axis from where it is, 1, to the front
// RUN: --pipeline "batch{func=reshape size=5 in_axes=1}"
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %y = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
// CHECK:      func.func @reshape.batch([[X:%\w+]]: tensor<2x5x3xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[X]], dims = [1, 0, 2] : (tensor<2x5x3xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[TRANSPOSE]] : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
// CHECK-NEXT:   return [[RESHAPE]] : tensor<5x6xf32>

// RUN: --pipeline "batch{func=broadcast size=5}"
func.func @broadcast(%x: tensor<3xf32>) -> tensor<4x3xf32> {
  %y = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
// CHECK:      func.func @broadcast.batch([[X:%\w+]]: tensor<5x3xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [0, 2] : (tensor<5x3xf32>) -> tensor<5x4x3xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<5x4x3xf32>

// The slice takes all of the mapped axis, wherever it is
// RUN: --pipeline "batch{func=slice size=5 in_axes=1 out_axes=1}"
func.func @slice(%x: tensor<8xf32>) -> tensor<3xf32> {
  %y = stablehlo.slice %x [1:6:2] : (tensor<8xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @slice.batch([[X:%\w+]]: tensor<8x5xf32>)
// CHECK-NEXT:   [[SLICE:%\w+]] = stablehlo.slice [[X]] [1:6:2, 0:5] : (tensor<8x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT:   return [[SLICE]] : tensor<3x5xf32>

// RUN: --pipeline "batch{func=concatenate size=5 in_axes=0,None}"
func.func @concatenate(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<5xf32> {
  %z = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
// CHECK:      func.func @concatenate.batch([[X:%\w+]]: tensor<5x3xf32>, [[Y:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[Y]], dims = [1] : (tensor<2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT:   [[CONCATENATE:%\w+]] = stablehlo.concatenate [[X]], [[BROADCAST]], dim = 1 : (tensor<5x3xf32>, tensor<5x2xf32>) -> tensor<5x5xf32>
// CHECK-NEXT:   return [[CONCATENATE]] : tensor<5x5xf32>

// RUN: --pipeline "batch{func=pad size=5 in_axes=0,None}"
func.func @pad(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %y = stablehlo.pad %x, %v, low = [1], high = [2], interior = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
// CHECK:      func.func @pad.batch([[X:%\w+]]: tensor<5x3xf32>, [[V:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[PAD:%\w+]] = stablehlo.pad [[X]], [[V]], low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5x6xf32>
// CHECK-NEXT:   return [[PAD]] : tensor<5x6xf32>
