// Negations vanish where they meet another one, a sum, or a constant.

// RUN: --pipeline "simplify"

// -(-x) is x
func.func @negate_of_negate(%x: tensor<12xf32>, %i: tensor<6xi32>) -> (tensor<12xf32>, tensor<6xi32>) {
  %a = stablehlo.negate %x : tensor<12xf32>
  %b = stablehlo.negate %a : tensor<12xf32>
  %c = stablehlo.negate %i : tensor<6xi32>
  %d = stablehlo.negate %c : tensor<6xi32>
  return %b, %d : tensor<12xf32>, tensor<6xi32>
}
// CHECK:      func.func @negate_of_negate([[X:%\w+]]: tensor<12xf32>, [[I:%\w+]]: tensor<6xi32>)
// CHECK-NEXT:   return [[X]], [[I]] : tensor<12xf32>, tensor<6xi32>

// -((y / -x) broadcast) is (y / x) broadcast: the ops between hand the sign on
func.func @negate_of_negate.far(%x: tensor<12xf32>, %y: tensor<12xf32>) -> tensor<2x12xf32> {
  %a = stablehlo.negate %x : tensor<12xf32>
  %b = stablehlo.divide %y, %a : tensor<12xf32>
  %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<12xf32>) -> tensor<2x12xf32>
  %d = stablehlo.negate %c : tensor<2x12xf32>
  return %d : tensor<2x12xf32>
}
// CHECK:      func.func @negate_of_negate.far([[X:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[Y]], [[X]] : tensor<12xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[DIVIDE]], dims = [1] : (tensor<12xf32>) -> tensor<2x12xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<2x12xf32>

// -(2 x) is -2 x, -(2 / x) is -2 / x
func.func @negate_of_constant_factor(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %2 = stablehlo.constant dense<2.0> : tensor<12xf32>
  %a = stablehlo.multiply %2, %x : tensor<12xf32>
  %b = stablehlo.negate %a : tensor<12xf32>
  %c = stablehlo.divide %2, %x : tensor<12xf32>
  %d = stablehlo.negate %c : tensor<12xf32>
  return %b, %d : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @negate_of_constant_factor([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<-2.000000e+00> : tensor<12xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[C]], [[X]] : tensor<12xf32>
// CHECK-NEXT:   [[C_2:%\w+]] = stablehlo.constant dense<-2.000000e+00> : tensor<12xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[C_2]], [[X]] : tensor<12xf32>
// CHECK-NEXT:   return [[MULTIPLY]], [[DIVIDE]] : tensor<12xf32>, tensor<12xf32>

// x * -1, -1 * x and x / -1 are -x
func.func @times_minus_one(%x: tensor<12xf32>, %i: tensor<6xi32>) -> (tensor<12xf32>, tensor<6xi32>, tensor<12xf32>) {
  %f = stablehlo.constant dense<-1.0> : tensor<12xf32>
  %n = stablehlo.constant dense<-1> : tensor<6xi32>
  %a = stablehlo.multiply %x, %f : tensor<12xf32>
  %b = stablehlo.multiply %n, %i : tensor<6xi32>
  %c = stablehlo.divide %x, %f : tensor<12xf32>
  return %a, %b, %c : tensor<12xf32>, tensor<6xi32>, tensor<12xf32>
}
// CHECK:      func.func @times_minus_one([[X:%\w+]]: tensor<12xf32>, [[I:%\w+]]: tensor<6xi32>)
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[X]] : tensor<12xf32>
// CHECK-NEXT:   [[NEGATE_2:%\w+]] = stablehlo.negate [[I]] : tensor<6xi32>
// CHECK-NEXT:   [[NEGATE_3:%\w+]] = stablehlo.negate [[X]] : tensor<12xf32>
// CHECK-NEXT:   return [[NEGATE]], [[NEGATE_2]], [[NEGATE_3]] : tensor<12xf32>, tensor<6xi32>, tensor<12xf32>

// 0 - x is -x, of integers
func.func @subtract_from_zero(%x: tensor<6xi32>) -> tensor<6xi32> {
  %0 = stablehlo.constant dense<0> : tensor<6xi32>
  %y = stablehlo.subtract %0, %x : tensor<6xi32>
  return %y : tensor<6xi32>
}
// CHECK:      func.func @subtract_from_zero([[X:%\w+]]: tensor<6xi32>)
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[X]] : tensor<6xi32>
// CHECK-NEXT:   return [[NEGATE]] : tensor<6xi32>

// x + (-y) is x - y, and (-x) + y is y - x
func.func @add_of_negate(%x: tensor<12xf32>, %y: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %a = stablehlo.negate %y : tensor<12xf32>
  %b = stablehlo.add %x, %a : tensor<12xf32>
  %c = stablehlo.negate %x : tensor<12xf32>
  %d = stablehlo.add %c, %y : tensor<12xf32>
  return %b, %d : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @add_of_negate([[X:%\w+]]: tensor<12xf32>, [[Y:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[X]], [[Y]] : tensor<12xf32>
// CHECK-NEXT:   [[SUBTRACT_2:%\w+]] = stablehlo.subtract [[Y]], [[X]] : tensor<12xf32>
// CHECK-NEXT:   return [[SUBTRACT]], [[SUBTRACT_2]] : tensor<12xf32>, tensor<12xf32>

// z + sum(-x y) is z - sum(x y)
func.func @add_of_negate.sum(%x: tensor<2x6xf32>, %y: tensor<2x6xf32>, %z: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.negate %x : tensor<2x6xf32>
  %b = stablehlo.multiply %a, %y : tensor<2x6xf32>
  %c = stablehlo.reduce(%b init: %0) applies stablehlo.add across dimensions = [1]
    : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
  %d = stablehlo.add %c, %z : tensor<2xf32>
  return %d : tensor<2xf32>
}
// CHECK:      func.func @add_of_negate.sum([[X:%\w+]]: tensor<2x6xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<2x6xf32>,
// CHECK-SAME:   [[Z:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[Y]] : tensor<2x6xf32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[MULTIPLY]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[Z]], [[REDUCE]] : tensor<2xf32>
// CHECK-NEXT:   return [[SUBTRACT]] : tensor<2xf32>

// -x * y is needed on its own too: nothing is done twice
func.func @add_of_negate.shared(%x: tensor<12xf32>, %y: tensor<12xf32>, %z: tensor<12xf32>)
    -> (tensor<12xf32>, tensor<12xf32>) {
  %i = stablehlo.negate %z : tensor<12xf32>
  %j = stablehlo.add %x, %i : tensor<12xf32>
  %a = stablehlo.negate %x : tensor<12xf32>
  %b = stablehlo.multiply %a, %y : tensor<12xf32>
  %c = stablehlo.add %b, %j : tensor<12xf32>
  return %b, %c : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @add_of_negate.shared([[X:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Z:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[X]], [[Z]] : tensor<12xf32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[X]] : tensor<12xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[NEGATE]], [[Y]] : tensor<12xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[MULTIPLY]], [[SUBTRACT]] : tensor<12xf32>
// CHECK-NEXT:   return [[MULTIPLY]], [[ADD]] : tensor<12xf32>, tensor<12xf32>

// x - (-y) is x + y
func.func @subtract_of_negate(%x: tensor<12xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %a = stablehlo.negate %y : tensor<12xf32>
  %b = stablehlo.subtract %x, %a : tensor<12xf32>
  return %b : tensor<12xf32>
}
// CHECK:      func.func @subtract_of_negate([[X:%\w+]]: tensor<12xf32>, [[Y:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[X]], [[Y]] : tensor<12xf32>
// CHECK-NEXT:   return [[ADD]] : tensor<12xf32>

// (-x) * (-y) is x * y, (-x) / (-y) is x / y
func.func @product_of_negates(%x: tensor<12xf32>, %y: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %a = stablehlo.negate %x : tensor<12xf32>
  %b = stablehlo.negate %y : tensor<12xf32>
  %c = stablehlo.multiply %a, %b : tensor<12xf32>
  %d = stablehlo.divide %a, %b : tensor<12xf32>
  return %c, %d : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @product_of_negates([[X:%\w+]]: tensor<12xf32>, [[Y:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[Y]] : tensor<12xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[X]], [[Y]] : tensor<12xf32>
// CHECK-NEXT:   return [[MULTIPLY]], [[DIVIDE]] : tensor<12xf32>, tensor<12xf32>

// sum(-x) is -sum(x): fewer elements are negated
func.func @sum_of_negate(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.negate %x : tensor<3x4xf32>
  %b = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [1]
    : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %b : tensor<3xf32>
}
// CHECK:      func.func @sum_of_negate([[X:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[REDUCE]] : tensor<3xf32>
// CHECK-NEXT:   return [[NEGATE]] : tensor<3xf32>
