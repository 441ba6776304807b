// Forward mode of ops that move elements: they are linear, so the tangent goes the same way.

// RUN: --pipeline "jvp{func=move}"
func.func @move(%x: tensor<2x3xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
// CHECK:      func.func @move.jvp([[X:%\w+]]: tensor<2x3xf32>, [[DX:%\w+]]: tensor<2x3xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[X]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   [[TRANSPOSE_2:%\w+]] = stablehlo.transpose [[DX]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[TRANSPOSE]] : (tensor<3x2xf32>) -> tensor<6xf32>
// CHECK-NEXT:   [[RESHAPE_2:%\w+]] = stablehlo.reshape [[TRANSPOSE_2]] : (tensor<3x2xf32>) -> tensor<6xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[RESHAPE]], dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:   [[BROADCAST_2:%\w+]] = stablehlo.broadcast_in_dim [[RESHAPE_2]], dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:   return [[BROADCAST]], [[BROADCAST_2]] : tensor<4x6xf32>, tensor<4x6xf32>

// d pad(x, v) = pad(dx, 0), where the padding v is constant
// RUN: --pipeline "jvp{func=pad wrt=0}"
func.func @pad(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %y = stablehlo.pad %x, %v, low = [1], high = [2], interior = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
// CHECK:      func.func @pad.jvp([[X:%\w+]]: tensor<3xf32>,
// CHECK-SAME:   [[V:%\w+]]: tensor<f32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[PAD:%\w+]] = stablehlo.pad [[X]], [[V]], low = [1], high = [2], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[PAD_2:%\w+]] = stablehlo.pad [[DX]], [[ZERO]], low = [1], high = [2], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT:   return [[PAD]], [[PAD_2]] : tensor<6xf32>, tensor<6xf32>

// d concatenate(x, y) = concatenate(dx, 0), where y is constant: here a zero tangent is needed
// RUN: --pipeline "jvp{func=concatenate wrt=0}"
func.func @concatenate(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<5xf32> {
  %z = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
// CHECK:      func.func @concatenate.jvp([[X:%\w+]]: tensor<3xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<2xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[CONCATENATE:%\w+]] = stablehlo.concatenate [[X]], [[Y]], dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:   [[CONCATENATE_2:%\w+]] = stablehlo.concatenate [[DX]], [[ZERO]], dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
// CHECK-NEXT:   return [[CONCATENATE]], [[CONCATENATE_2]] : tensor<5xf32>, tensor<5xf32>
