// Reverse mode where values are used more than once, or not at all.

// x is used three times: its cotangents are added. d (x x + sin x) = 2 x + cos x
// RUN: --pipeline "vjp{func=shared},inline,simplify,canonicalize,cse"
func.func @shared(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = stablehlo.sine %x : tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK:      func.func @shared.vjp([[X:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[COSINE:%\w+]] = stablehlo.cosine [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[MULTIPLY]], [[SINE]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[CT]], [[COSINE]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[CT]], [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD_2:%\w+]] = stablehlo.add [[MULTIPLY_2]], [[MULTIPLY_3]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD_3:%\w+]] = stablehlo.add [[ADD_2]], [[MULTIPLY_3]] : tensor<4xf32>
// CHECK-NEXT:   return [[ADD]], [[ADD_3]] : tensor<4xf32>, tensor<4xf32>

// Two results: a cotangent each. x + y and x - y have the cotangents a + b for x and a - b for y.
// RUN: --pipeline "vjp{func=results},inline,simplify,canonicalize,cse"
func.func @results(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.subtract %x, %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func @results.vjp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[A:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[B:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[X]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[X]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[ADD_2:%\w+]] = stablehlo.add [[B]], [[A]] : tensor<4xf32>
// CHECK-NEXT:   [[SUBTRACT_2:%\w+]] = stablehlo.subtract [[A]], [[B]] : tensor<4xf32>
// CHECK-NEXT:   return [[ADD]], [[SUBTRACT]], [[ADD_2]], [[SUBTRACT_2]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>

// With respect to y alone: nothing is computed for x; an integer result has no cotangent
// RUN: --pipeline "vjp{func=some wrt=1},inline,simplify,canonicalize,cse"
func.func @some(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %y : tensor<4xf32>
  %2 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  return %1, %2 : tensor<4xf32>, tensor<4xi32>
}
// CHECK:      func.func @some.vjp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[TANH:%\w+]] = stablehlo.tanh [[X]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[TANH]], [[Y]] : tensor<4xf32>
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[X]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[CT]], [[TANH]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]], [[CONVERT]], [[MULTIPLY_2]] : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
