// Linearization: @f.fwd computes the results and, behind them, the residuals; @f.lin takes these and
// the tangents. Everything that is not linear in the tangents is done in @f.fwd, once.

// sin(x) y: the residuals are y cos(x), of which y is saved as it came in, and sin(x)
// RUN: --pipeline "linearize{func=main}"
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK:      func.func @main.fwd([[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[SINE]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]], [[COSINE]], [[Y]], [[SINE]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>

// dx cos(x) y + sin(x) dy
// CHECK:      func.func @main.lin([[COS_X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[SIN_X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DY:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[DX]], [[COS_X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[MULTIPLY]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[DY]], [[SIN_X]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[MULTIPLY_2]], [[MULTIPLY_3]] : tensor<4xf32>
// CHECK-NEXT:   return [[ADD]] : tensor<4xf32>

// Constants, and what is only stretched, are made again instead of being saved
// RUN: --pipeline "linearize{func=scale}"
func.func @scale(%x: tensor<4x3xf32>, %n: tensor<3xi32>) -> tensor<4x3xf32> {
  %2 = stablehlo.constant dense<2.0> : tensor<4x3xf32>
  %s = stablehlo.convert %n : (tensor<3xi32>) -> tensor<3xf32>
  %w = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %0 = stablehlo.multiply %x, %2 : tensor<4x3xf32>
  %1 = stablehlo.multiply %0, %w : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
// CHECK:      func.func @scale.fwd([[X:%\w+]]: tensor<4x3xf32>, [[N:%\w+]]: tensor<3xi32>)
// CHECK-NEXT:   [[TWO:%\w+]] = stablehlo.constant dense<2.000000e+00> : tensor<4x3xf32>
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[N]] : (tensor<3xi32>) -> tensor<3xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[CONVERT]], dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[TWO]] : tensor<4x3xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[MULTIPLY]], [[BROADCAST]] : tensor<4x3xf32>
// CHECK-NEXT:   return [[MULTIPLY_2]], [[CONVERT]] : tensor<4x3xf32>, tensor<3xf32>
// CHECK:      func.func @scale.lin([[S:%\w+]]: tensor<3xf32>, [[DX:%\w+]]: tensor<4x3xf32>)
// CHECK-NEXT:   [[TWO:%\w+]] = stablehlo.constant dense<2.000000e+00> : tensor<4x3xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[S]], dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[DX]], [[TWO]] : tensor<4x3xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[MULTIPLY]], [[BROADCAST]] : tensor<4x3xf32>
// CHECK-NEXT:   return [[MULTIPLY_2]] : tensor<4x3xf32>
