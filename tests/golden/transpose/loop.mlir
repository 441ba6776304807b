// A loop that also carries what is not linear becomes two: one computes that, and residuals.

// RUN: --pipeline "transpose{func=main wrt=0},symbol-dce"
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<2> : tensor<i32>
  %start = stablehlo.constant dense<1.3> : tensor<f32>
  %0:3 = stablehlo.while(%i = %zero, %d = %start, %s = %x) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %goes = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %d2 = stablehlo.add %d, %d : tensor<f32>
    %s2 = stablehlo.divide %s, %d : tensor<f32>
    stablehlo.return %next, %d2, %s2 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  %y = stablehlo.multiply %0#2, %0#1 : tensor<f32>
  return %y : tensor<f32>
}
// CHECK:      func.func @main.transpose([[CT:%\w+]]: tensor<f32>)
// CHECK:        [[KNOWN:%\w+]]:4 = stablehlo.composite "irax.scan"
// CHECK-SAME:     body = @while.body.fwd.step, length = 2 : i64
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[CT]], [[KNOWN]]#1 : tensor<f32>
// CHECK-NEXT:   [[SCAN:%\w+]] = stablehlo.composite "irax.scan" [[MULTIPLY]], [[KNOWN]]#3
// CHECK-SAME:     num_carry = 1 : i64, num_consts = 0 : i64, reverse = true}
// CHECK-NEXT:   return [[SCAN]] : tensor<f32>
// CHECK:      func.func private @while.body.moving.transpose([[D:%\w+]]: tensor<f32>, [[CT:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[CT]], [[D]] : tensor<f32>
// CHECK-NEXT:   return [[DIVIDE]] : tensor<f32>
