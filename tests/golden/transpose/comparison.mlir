// The transpose of select: each branch gets the cotangent where it was chosen, and zero elsewhere.

// RUN: --pipeline "transpose{func=select wrt=1,2}"
func.func @select(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @select.transpose([[P:%\w+]]: tensor<4xi1>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[P]], [[CT]], [[ZERO]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   [[SELECT_2:%\w+]] = stablehlo.select [[P]], [[ZERO]], [[CT]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   return [[SELECT]], [[SELECT_2]] : tensor<4xf32>, tensor<4xf32>
