// Transposes of linear elementwise functions: from the cotangent of the result to those of the
// arguments. What the function multiplies with stays an argument.

// x y is linear in x: its transpose is multiplication with y too
// RUN: --pipeline "transpose{func=multiply wrt=0}"
func.func @multiply(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.multiply %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @multiply.transpose([[Y:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[CT]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<4xf32>

// x / y is linear in x
// RUN: --pipeline "transpose{func=divide wrt=0}"
func.func @divide(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.divide %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @divide.transpose([[Y:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[CT]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   return [[DIVIDE]] : tensor<4xf32>

// x - y is linear in both: ct to x, -ct to y
// RUN: --pipeline "transpose{func=subtract wrt=0,1}"
func.func @subtract(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.subtract %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @subtract.transpose([[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[CT]] : tensor<4xf32>
// CHECK-NEXT:   return [[CT]], [[NEGATE]] : tensor<4xf32>, tensor<4xf32>

// x used twice: its cotangents are added, in x + x a = x (1 + a)
// RUN: --pipeline "transpose{func=twice wrt=0}"
func.func @twice(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %a : tensor<4xf32>
  %z = stablehlo.add %x, %0 : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @twice.transpose([[A:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[CT]], [[A]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[CT]], [[MULTIPLY]] : tensor<4xf32>
// CHECK-NEXT:   return [[ADD]] : tensor<4xf32>

// An argument that the result does not depend on: zero, for the user who asked for it
// RUN: --pipeline "transpose{func=unused wrt=0,1}"
func.func @unused(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %z = stablehlo.negate %x : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @unused.transpose([[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[CT]] : tensor<4xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:   return [[NEGATE]], [[ZERO]] : tensor<4xf32>, tensor<2xf32>
