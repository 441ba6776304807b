// The transpose of select: each branch gets the cotangent where it was chosen, and zero elsewhere. The
// zeros are selected behind the elementwise operations of a branch.

// RUN: --pipeline "transpose{func=select wrt=1,2}"
func.func @select(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @select.transpose([[P:%\w+]]: tensor<4xi1>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[P]], [[CT]], [[ZERO]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   [[ZERO_2:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[SELECT_2:%\w+]] = stablehlo.select [[P]], [[ZERO_2]], [[CT]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   return [[SELECT]], [[SELECT_2]] : tensor<4xf32>, tensor<4xf32>

// RUN: --pipeline "transpose{func=branches wrt=2}"
func.func @branches(%p: tensor<4xi1>, %s: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.divide %x, %s : tensor<4xf32>
  %w = stablehlo.negate %y : tensor<4xf32>
  %z = stablehlo.select %p, %w, %x : tensor<4xi1>, tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @branches.transpose([[P:%\w+]]: tensor<4xi1>, [[S:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[CT]] : tensor<4xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[NEGATE]], [[S]] : tensor<4xf32>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[P]], [[DIVIDE]], [[CT]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   return [[SELECT]] : tensor<4xf32>
