// Forward mode of calls: each function that is called gets one derived function for each pattern of
// arguments that have tangents, so the module grows with what it holds, not with what it runs.

// RUN: --pipeline "jvp{func=main}"
func.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// f(f(x, y), y) for constant y: both calls have a tangent for the first argument alone, and share
// @f.jvp, which is private: the user asked for @main.jvp only.
func.func @main(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %y = stablehlo.convert %n : (tensor<4xi32>) -> tensor<4xf32>
  %0 = func.call @f(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @f(%0, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %n : tensor<4xf32>, tensor<4xi32>
}

// An integer result has no tangent.
// CHECK:      func.func @main.jvp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[N:%\w+]]: tensor<4xi32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[N]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:   [[F_JVP:%\w+]]:2 = call @f.jvp([[X]], [[CONVERT]], [[DX]]) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   [[F_JVP_2:%\w+]]:2 = call @f.jvp([[F_JVP]]#0, [[CONVERT]], [[F_JVP]]#1) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   return [[F_JVP_2]]#0, [[N]], [[F_JVP_2]]#1 : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>

// d (sin(x) y) = dx cos(x) y
// CHECK:      func.func private @f.jvp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[DX]], [[COSINE]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[SINE]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[MULTIPLY]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY_2]], [[MULTIPLY_3]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NOT: @f.jvp_1
