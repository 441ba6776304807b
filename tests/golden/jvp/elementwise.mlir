// Forward mode of elementwise ops: tangent times derivative, in as few operations as one would write
// by hand. An argument without a tangent costs nothing: no zeros are added or multiplied.

// d sin(x) = dx cos(x)
// RUN: --pipeline "jvp{func=sine}"
func.func @sine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.sine %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @sine.jvp([[X:%.+]]: tensor<4xf32>, [[DX:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SINE:%.+]] = stablehlo.sine [[X]]
// CHECK-NEXT:   [[COSINE:%.+]] = stablehlo.cosine [[X]]
// CHECK-NEXT:   [[MULTIPLY:%.+]] = stablehlo.multiply [[DX]], [[COSINE]]
// CHECK-NEXT:   return [[SINE]], [[MULTIPLY]]

// d exp(x) = dx exp(x): the result is used again
// RUN: --pipeline "jvp{func=exp}"
func.func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.exponential %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @exp.jvp([[X:%.+]]: tensor<4xf32>, [[DX:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[EXP:%.+]] = stablehlo.exponential [[X]]
// CHECK-NEXT:   [[MULTIPLY:%.+]] = stablehlo.multiply [[DX]], [[EXP]]
// CHECK-NEXT:   return [[EXP]], [[MULTIPLY]]

// d log(x) = dx / x
// RUN: --pipeline "jvp{func=log}"
func.func @log(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.log %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @log.jvp([[X:%.+]]: tensor<4xf32>, [[DX:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[LOG:%.+]] = stablehlo.log [[X]]
// CHECK-NEXT:   [[DIVIDE:%.+]] = stablehlo.divide [[DX]], [[X]]
// CHECK-NEXT:   return [[LOG]], [[DIVIDE]]

// d tanh(x) = dx (1 - tanh(x)²)
// RUN: --pipeline "jvp{func=tanh}"
func.func @tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @tanh.jvp([[X:%.+]]: tensor<4xf32>, [[DX:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[TANH:%.+]] = stablehlo.tanh [[X]]
// CHECK-NEXT:   [[ONE:%.+]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%.+]] = stablehlo.multiply [[TANH]], [[TANH]]
// CHECK-NEXT:   [[SUBTRACT:%.+]] = stablehlo.subtract [[ONE]], [[MULTIPLY]]
// CHECK-NEXT:   [[MULTIPLY_2:%.+]] = stablehlo.multiply [[DX]], [[SUBTRACT]]
// CHECK-NEXT:   return [[TANH]], [[MULTIPLY_2]]

// d (x y) = dx y + x dy
// RUN: --pipeline "jvp{func=multiply}"
func.func @multiply(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.multiply %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @multiply.jvp([[X:%.+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%.+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%.+]]: tensor<4xf32>,
// CHECK-SAME:   [[DY:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%.+]] = stablehlo.multiply [[X]], [[Y]]
// CHECK-NEXT:   [[MULTIPLY_2:%.+]] = stablehlo.multiply [[DX]], [[Y]]
// CHECK-NEXT:   [[MULTIPLY_3:%.+]] = stablehlo.multiply [[X]], [[DY]]
// CHECK-NEXT:   [[ADD:%.+]] = stablehlo.add [[MULTIPLY_2]], [[MULTIPLY_3]]
// CHECK-NEXT:   return [[MULTIPLY]], [[ADD]]

// With y constant: d (x / y) = dx / y
// RUN: --pipeline "jvp{func=divide wrt=0}"
func.func @divide(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.divide %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @divide.jvp([[X:%.+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%.+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[DIVIDE:%.+]] = stablehlo.divide [[X]], [[Y]]
// CHECK-NEXT:   [[DIVIDE_2:%.+]] = stablehlo.divide [[DX]], [[Y]]
// CHECK-NEXT:   return [[DIVIDE]], [[DIVIDE_2]]

// With x constant: d (x - y) = -dy
// RUN: --pipeline "jvp{func=subtract wrt=1}"
func.func @subtract(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.subtract %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @subtract.jvp([[X:%.+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%.+]]: tensor<4xf32>,
// CHECK-SAME:   [[DY:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[SUBTRACT:%.+]] = stablehlo.subtract [[X]], [[Y]]
// CHECK-NEXT:   [[NEGATE:%.+]] = stablehlo.negate [[DY]]
// CHECK-NEXT:   return [[SUBTRACT]], [[NEGATE]]

// floor is constant between jumps: the tangent is zero, and only the user who asked is given one
// RUN: --pipeline "jvp{func=floor}"
func.func @floor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.floor %x : tensor<4xf32>
  %z = stablehlo.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @floor.jvp([[X:%.+]]: tensor<4xf32>, [[DX:%.+]]: tensor<4xf32>)
// CHECK-NEXT:   [[FLOOR:%.+]] = stablehlo.floor [[X]]
// CHECK-NEXT:   [[ADD:%.+]] = stablehlo.add [[X]], [[FLOOR]]
// CHECK-NEXT:   return [[ADD]], [[DX]]
