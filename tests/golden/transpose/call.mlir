// Transposes go through calls: the last call is transposed first.

// RUN: --pipeline "transpose{func=main wrt=0}"
func.func private @scale(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// sum(x a b)
func.func @main(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<f32> {
  %0 = func.call @scale(%x, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @scale(%0, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
// CHECK:      func.func @main.transpose([[A:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[B:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[CT]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:   [[SCALE_TRANSPOSE:%\w+]] = call @scale.transpose([[B]], [[BROADCAST]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[SCALE_TRANSPOSE_2:%\w+]] = call @scale.transpose([[A]], [[SCALE_TRANSPOSE]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return [[SCALE_TRANSPOSE_2]] : tensor<4xf32>
// CHECK:      func.func private @scale.transpose([[A:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[CT]], [[A]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<4xf32>
// CHECK-NOT: @scale.transpose_1
