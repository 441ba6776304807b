// Forward mode of ops that move elements: they are linear, so the tangent goes the same way.

// RUN: --pipeline "jvp{func=move}"
func.func @move(%x: tensor<2x3xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
// CHECK:      func.func @move.jvp([[X:%.+]]: tensor<2x3xf32>, [[DX:%.+]]: tensor<2x3xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%.+]] = stablehlo.transpose [[X]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   [[TRANSPOSE_2:%.+]] = stablehlo.transpose [[DX]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   [[RESHAPE:%.+]] = stablehlo.reshape [[TRANSPOSE]] : (tensor<3x2xf32>) -> tensor<6xf32>
// CHECK-NEXT:   [[RESHAPE_2:%.+]] = stablehlo.reshape [[TRANSPOSE_2]] : (tensor<3x2xf32>) -> tensor<6xf32>
// CHECK-NEXT:   [[BROADCAST:%.+]] = stablehlo.broadcast_in_dim [[RESHAPE]], dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:   [[BROADCAST_2:%.+]] = stablehlo.broadcast_in_dim [[RESHAPE_2]], dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:   return [[BROADCAST]], [[BROADCAST_2]]

// d pad(x, v) = pad(dx, 0), where the padding v is constant
// RUN: --pipeline "jvp{func=pad wrt=0}"
func.func @pad(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %y = stablehlo.pad %x, %v, low = [1], high = [2], interior = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
// CHECK:      func.func @pad.jvp([[X:%.+]]: tensor<3xf32>,
// CHECK-SAME:   [[V:%.+]]: tensor<f32>,
// CHECK-SAME:   [[DX:%.+]]: tensor<3xf32>)
// CHECK-NEXT:   [[PAD:%.+]] = stablehlo.pad [[X]], [[V]], low = [1], high = [2], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT:   [[ZERO:%.+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[PAD_2:%.+]] = stablehlo.pad [[DX]], [[ZERO]], low = [1], high = [2], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT:   return [[PAD]], [[PAD_2]]

// d concatenate(x, y) = concatenate(dx, 0), where y is constant: here a zero tangent is needed
// RUN: --pipeline "jvp{func=concatenate wrt=0}"
func.func @concatenate(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<5xf32> {
  %z = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
// CHECK:      func.func @concatenate.jvp([[X:%.+]]: tensor<3xf32>,
// CHECK-SAME:   [[Y:%.+]]: tensor<2xf32>,
// CHECK-SAME:   [[DX:%.+]]: tensor<3xf32>)
// CHECK-NEXT:   [[CONCATENATE:%.+]] = stablehlo.concatenate [[X]], [[Y]], dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
// CHECK-NEXT:   [[ZERO:%.+]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:   [[CONCATENATE_2:%.+]] = stablehlo.concatenate [[DX]], [[ZERO]], dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
// CHECK-NEXT:   return [[CONCATENATE]], [[CONCATENATE_2]]
