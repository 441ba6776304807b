// A value that decides how long a loop runs, and is in no result, has no cotangent: zeros would meet
// its derivative, which may be infinite.

// RUN: --pipeline "transpose{func=main wrt=0},symbol-dce"
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<3> : tensor<i32>
  %infinity = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %0:3 = stablehlo.while(%i = %zero, %s = %x, %size = %x) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %goes = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %s2 = stablehlo.negate %s : tensor<f32>
    %size2 = stablehlo.multiply %s, %infinity : tensor<f32>
    stablehlo.return %next, %s2, %size2 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
// CHECK:      func.func @main.transpose([[CT:%\w+]]: tensor<f32>)
// CHECK:        [[SCAN:%\w+]] = stablehlo.composite "irax.scan" {{%\w+}}, [[CT]]
// CHECK-SAME:     num_carry = 1 : i64, num_consts = 1 : i64, reverse = true}
// CHECK-NEXT:   return [[SCAN]] : tensor<f32>
// CHECK:      func.func private @while.body.moving.transpose({{%\w+}}: tensor<f32>, [[CT:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[CT]] : tensor<f32>
// CHECK-NEXT:   return [[NEGATE]] : tensor<f32>
