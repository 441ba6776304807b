// The transpose of a sum is a broadcast: each term gets the cotangent of its sum.

// RUN: --pipeline "transpose{func=sum wrt=0}"
func.func @sum(%x: tensor<3x4x5xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0, 2]
    : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @sum.transpose([[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[CT]], dims = [1] : (tensor<4xf32>) -> tensor<3x4x5xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<3x4x5xf32>
