// Forward mode of elementwise ops: tangent times derivative, in as few operations as one would write
// by hand. An argument without a tangent costs nothing: no zeros are added or multiplied.

// d sin(x) = dx cos(x)
// RUN: --pipeline "jvp{func=sine}"
func.func @sine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.sine %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @sine.jvp([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[DX]], [[COSINE]] : tensor<4xf32>
// CHECK-NEXT:   return [[SINE]], [[MULTIPLY]] : tensor<4xf32>, tensor<4xf32>

// d exp(x) = dx exp(x): the result is used again
// RUN: --pipeline "jvp{func=exp}"
func.func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.exponential %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @exp.jvp([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[EXP:%\w+]] = stablehlo.exponential [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[DX]], [[EXP]] : tensor<4xf32>
// CHECK-NEXT:   return [[EXP]], [[MULTIPLY]] : tensor<4xf32>, tensor<4xf32>

// d log(x) = dx / x
// RUN: --pipeline "jvp{func=log}"
func.func @log(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.log %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @log.jvp([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[LOG:%\w+]] = stablehlo.log [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[DX]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   return [[LOG]], [[DIVIDE]] : tensor<4xf32>, tensor<4xf32>

// d tanh(x) = dx (1 - tanh(x)²), far from 0 by exp(-|x|), where that cancels
// RUN: --pipeline "jvp{func=tanh}"
func.func @tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @tanh.jvp([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[TANH:%\w+]] = stablehlo.tanh [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[ABS:%\w+]] = stablehlo.abs [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[ABS]] : tensor<4xf32>
// CHECK-NEXT:   [[EXP:%\w+]] = stablehlo.exponential [[NEGATE]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[EXP]], [[EXP]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[ONE]], [[MULTIPLY]] : tensor<4xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[EXP]], [[ADD]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD_2:%\w+]] = stablehlo.add [[DIVIDE]], [[DIVIDE]] : tensor<4xf32>
// CHECK-NEXT:   [[ONE_2:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare LT, [[ABS]], [[ONE_2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[TANH]], [[TANH]] : tensor<4xf32>
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[ONE]], [[MULTIPLY_2]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[ADD_2]], [[ADD_2]] : tensor<4xf32>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE]], [[SUBTRACT]], [[MULTIPLY_3]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_4:%\w+]] = stablehlo.multiply [[DX]], [[SELECT]] : tensor<4xf32>
// CHECK-NEXT:   return [[TANH]], [[MULTIPLY_4]] : tensor<4xf32>, tensor<4xf32>

// d (x y) = dx y + x dy
// RUN: --pipeline "jvp{func=multiply}"
func.func @multiply(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.multiply %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @multiply.jvp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DY:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[DX]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[DY]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[MULTIPLY_2]], [[MULTIPLY_3]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]], [[ADD]] : tensor<4xf32>, tensor<4xf32>

// With y constant: d (x / y) = dx / y
// RUN: --pipeline "jvp{func=divide wrt=0}"
func.func @divide(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.divide %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @divide.jvp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[X]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[DIVIDE_2:%\w+]] = stablehlo.divide [[DX]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   return [[DIVIDE]], [[DIVIDE_2]] : tensor<4xf32>, tensor<4xf32>

// With x constant: d (x - y) = -dy
// RUN: --pipeline "jvp{func=subtract wrt=1}"
func.func @subtract(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.subtract %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @subtract.jvp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DY:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[X]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[DY]] : tensor<4xf32>
// CHECK-NEXT:   return [[SUBTRACT]], [[NEGATE]] : tensor<4xf32>, tensor<4xf32>

// floor is constant between jumps: the tangent is zero, and only the user who asked is given one
// RUN: --pipeline "jvp{func=floor}"
func.func @floor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.floor %x : tensor<4xf32>
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @floor.jvp([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[FLOOR:%\w+]] = stablehlo.floor [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[X]], [[FLOOR]] : tensor<4xf32>
// CHECK-NEXT:   return [[ADD]], [[DX]] : tensor<4xf32>, tensor<4xf32>
