// The gradient of a norm: sqrt(sum(x²)) has the gradient ct x / sqrt(sum(x²)); as the chain rule
// writes it, ct / (2 sqrt(...)) is stretched and multiplied with x twice.

// RUN: --pipeline "vjp{func=main},inline,simplify,canonicalize,cse"
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.multiply %x, %x : tensor<4xf32>
  %2 = stablehlo.reduce(%1 init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.sqrt %2 : tensor<f32>
  return %3 : tensor<f32>
}
// CHECK:      func.func @main.vjp([[X:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[TWO:%\w+]] = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[MULTIPLY]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   [[SQRT:%\w+]] = stablehlo.sqrt [[REDUCE]] : tensor<f32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[TWO]], [[SQRT]] : tensor<f32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[CT]], [[MULTIPLY_2]] : tensor<f32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[DIVIDE]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[BROADCAST]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[MULTIPLY_3]], [[MULTIPLY_3]] : tensor<4xf32>
// CHECK-NEXT:   return [[SQRT]], [[ADD]] : tensor<f32>, tensor<4xf32>
