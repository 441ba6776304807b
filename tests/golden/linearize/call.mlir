// Linearization of calls: @main.fwd calls @f.fwd and passes its residuals on; @main.lin calls @f.lin.

// RUN: --pipeline "linearize{func=main}"
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// sin(sin(x))
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK:      func.func private @f.fwd([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[SINE]], [[COSINE]] : tensor<4xf32>, tensor<4xf32>
// CHECK:      func.func private @f.lin([[COS_X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[DX]], [[COS_X]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<4xf32>
// CHECK:      func.func @main.fwd([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[F_FWD:%\w+]]:2 = call @f.fwd([[X]]) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   [[F_FWD_2:%\w+]]:2 = call @f.fwd([[F_FWD]]#0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   return [[F_FWD_2]]#0, [[F_FWD]]#1, [[F_FWD_2]]#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK:      func.func @main.lin([[COS_X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[COS_SIN_X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[F_LIN:%\w+]] = call @f.lin([[COS_X]], [[DX]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[F_LIN_2:%\w+]] = call @f.lin([[COS_SIN_X]], [[F_LIN]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[F_LIN_2]] : tensor<4xf32>
