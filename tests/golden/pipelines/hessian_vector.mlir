// Forward mode over reverse mode: the Hessian of sum(x³) times a vector. The derivative of
// ct 3 x² is ct 6 x dx.

// RUN: --pipeline "vjp{func=main},jvp{func=main.vjp wrt=0},inline,simplify,canonicalize,cse,symbol-dce"
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.constant dense<3.0> : tensor<4xf32>
  %1 = stablehlo.power %x, %3 : tensor<4xf32>
  %2 = stablehlo.reduce(%1 init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
// The results, of @main and of its gradient, and then their tangents.
// CHECK:      func.func @main.vjp.jvp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<f32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[TWO:%\w+]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<3.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[POWER:%\w+]] = stablehlo.power [[X]], [[C]] : tensor<4xf32>
// CHECK-NEXT:   [[POWER_2:%\w+]] = stablehlo.power [[X]], [[TWO]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[C]], [[POWER_2]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[DX]], [[MULTIPLY]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[TWO]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_4:%\w+]] = stablehlo.multiply [[DX]], [[MULTIPLY_3]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_5:%\w+]] = stablehlo.multiply [[MULTIPLY_4]], [[C]] : tensor<4xf32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[POWER]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   [[REDUCE_2:%\w+]] = stablehlo.reduce([[MULTIPLY_2]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[CT]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_6:%\w+]] = stablehlo.multiply [[BROADCAST]], [[MULTIPLY]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_7:%\w+]] = stablehlo.multiply [[MULTIPLY_5]], [[BROADCAST]] : tensor<4xf32>
// CHECK-NEXT:   return [[REDUCE]], [[MULTIPLY_6]], [[REDUCE_2]], [[MULTIPLY_7]] : tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
