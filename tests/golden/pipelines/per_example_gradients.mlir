// Gradients for each example of a batch: @main.vjp over examples. The weights are shared, so the
// forward product is one matrix product; the gradients of the weights are an outer product for each
// example.

// RUN: --pipeline "vjp{func=main wrt=0},batch{func=main.vjp size=8 in_axes=None,0,None},inline,simplify,canonicalize,cse,symbol-dce"

// sum(tanh(x w))
func.func @main(%w: tensor<3x4xf32>, %x: tensor<3xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
// CHECK:      func.func @main.vjp.batch([[W:%\w+]]: tensor<3x4xf32>,
// CHECK-SAME:   [[X:%\w+]]: tensor<8x3xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<8x4xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[W]], contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:   [[TANH:%\w+]] = stablehlo.tanh [[DOT]] : tensor<8x4xf32>
// CHECK-NEXT:   [[ABS:%\w+]] = stablehlo.abs [[DOT]] : tensor<8x4xf32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[ABS]] : tensor<8x4xf32>
// CHECK-NEXT:   [[EXP:%\w+]] = stablehlo.exponential [[NEGATE]] : tensor<8x4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[EXP]], [[EXP]] : tensor<8x4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[ONE]], [[MULTIPLY]] : tensor<8x4xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[EXP]], [[ADD]] : tensor<8x4xf32>
// CHECK-NEXT:   [[ADD_2:%\w+]] = stablehlo.add [[DIVIDE]], [[DIVIDE]] : tensor<8x4xf32>
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare LT, [[ABS]], [[ONE]] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[TANH]], [[TANH]] : tensor<8x4xf32>
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[ONE]], [[MULTIPLY_2]] : tensor<8x4xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[ADD_2]], [[ADD_2]] : tensor<8x4xf32>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE]], [[SUBTRACT]], [[MULTIPLY_3]] : tensor<8x4xi1>, tensor<8x4xf32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[TANH]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[CT]], dims = [] : (tensor<f32>) -> tensor<8x4xf32>
// CHECK-NEXT:   [[MULTIPLY_4:%\w+]] = stablehlo.multiply [[BROADCAST]], [[SELECT]] : tensor<8x4xf32>
// CHECK-NEXT:   [[DOT_2:%\w+]] = stablehlo.dot_general [[X]], [[MULTIPLY_4]], batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<8x3x4xf32>
// CHECK-NEXT:   return [[REDUCE]], [[DOT_2]] : tensor<8xf32>, tensor<8x3x4xf32>
