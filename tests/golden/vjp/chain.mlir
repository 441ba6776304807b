// Reverse mode of a chain, step by step: @main.fwd keeps what the derivative needs, @main.bwd walks
// back from the cotangent, and @main.vjp, which was asked for and is public, calls the one, then the
// other.

// y = exp(sin(x)): ct_x = ct exp(sin(x)) cos(x)
// RUN: --pipeline "vjp{func=main}"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK:      func.func private @main.fwd([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[EXP:%\w+]] = stablehlo.exponential [[SINE]] : tensor<4xf32>
// CHECK-NEXT:   return [[EXP]], [[COSINE]], [[EXP]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK:      func.func private @main.bwd([[COS_X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[EXP_SIN_X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[CT]], [[EXP_SIN_X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[MULTIPLY]], [[COS_X]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY_2]] : tensor<4xf32>
// CHECK:      func.func @main.vjp([[X:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MAIN_FWD:%\w+]]:3 = call @main.fwd([[X]]) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   [[MAIN_BWD:%\w+]] = call @main.bwd([[MAIN_FWD]]#1, [[MAIN_FWD]]#2, [[CT]]) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[MAIN_FWD]]#0, [[MAIN_BWD]] : tensor<4xf32>, tensor<4xf32>
