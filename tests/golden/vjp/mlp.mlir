// The gradient of a network with one hidden layer and a softmax cross-entropy loss, as one would
// write it by hand: no transposes, no broadcasts but those of the forward pass and of the loss, and
// no arithmetic that is done twice.

// RUN: --pipeline "vjp{func=main wrt=0,1,2,3},inline,simplify,canonicalize,cse,symbol-dce"

// h = tanh(x w1 + b1), z = h w2 + b2, loss = sum(y (z - log(sum(exp z)))) / -128
func.func @main(%w1: tensor<64x32xf32>, %b1: tensor<32xf32>, %w2: tensor<32x10xf32>, %b2: tensor<10xf32>,
    %x: tensor<128x64xf32>, %y: tensor<128x10xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  %1 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<32xf32>) -> tensor<128x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<128x32xf32>
  %h = stablehlo.tanh %2 : tensor<128x32xf32>
  %4 = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0] : (tensor<128x32xf32>, tensor<32x10xf32>) -> tensor<128x10xf32>
  %5 = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<10xf32>) -> tensor<128x10xf32>
  %z = stablehlo.add %4, %5 : tensor<128x10xf32>
  %exp = stablehlo.exponential %z : tensor<128x10xf32>
  %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
  %log = stablehlo.log %sum : tensor<128xf32>
  %9 = stablehlo.broadcast_in_dim %log, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
  %10 = stablehlo.subtract %z, %9 : tensor<128x10xf32>
  %11 = stablehlo.multiply %10, %y : tensor<128x10xf32>
  %12 = stablehlo.reduce(%11 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<-128.0> : tensor<f32>
  %loss = stablehlo.divide %12, %n : tensor<f32>
  return %loss : tensor<f32>
}
// CHECK:      func.func @main.vjp([[W1:%\w+]]: tensor<64x32xf32>,
// CHECK-SAME:   [[B1:%\w+]]: tensor<32xf32>,
// CHECK-SAME:   [[W2:%\w+]]: tensor<32x10xf32>,
// CHECK-SAME:   [[B2:%\w+]]: tensor<10xf32>,
// CHECK-SAME:   [[X:%\w+]]: tensor<128x64xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<128x10xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<128x32xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[W1]], contracting_dims = [1] x [0] : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[B1]], dims = [1] : (tensor<32xf32>) -> tensor<128x32xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[DOT]], [[BROADCAST]] : tensor<128x32xf32>
// CHECK-NEXT:   [[TANH:%\w+]] = stablehlo.tanh [[ADD]] : tensor<128x32xf32>
// CHECK-NEXT:   [[ABS:%\w+]] = stablehlo.abs [[ADD]] : tensor<128x32xf32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[ABS]] : tensor<128x32xf32>
// CHECK-NEXT:   [[EXP:%\w+]] = stablehlo.exponential [[NEGATE]] : tensor<128x32xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[EXP]], [[EXP]] : tensor<128x32xf32>
// CHECK-NEXT:   [[ADD_2:%\w+]] = stablehlo.add [[ONE]], [[MULTIPLY]] : tensor<128x32xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[EXP]], [[ADD_2]] : tensor<128x32xf32>
// CHECK-NEXT:   [[ADD_3:%\w+]] = stablehlo.add [[DIVIDE]], [[DIVIDE]] : tensor<128x32xf32>
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare LT, [[ABS]], [[ONE]] : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xi1>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[TANH]], [[TANH]] : tensor<128x32xf32>
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[ONE]], [[MULTIPLY_2]] : tensor<128x32xf32>
// CHECK-NEXT:   [[MULTIPLY_3:%\w+]] = stablehlo.multiply [[ADD_3]], [[ADD_3]] : tensor<128x32xf32>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE]], [[SUBTRACT]], [[MULTIPLY_3]] : tensor<128x32xi1>, tensor<128x32xf32>
// CHECK-NEXT:   [[DOT_2:%\w+]] = stablehlo.dot_general [[TANH]], [[W2]], contracting_dims = [1] x [0] : (tensor<128x32xf32>, tensor<32x10xf32>) -> tensor<128x10xf32>
// CHECK-NEXT:   [[BROADCAST_2:%\w+]] = stablehlo.broadcast_in_dim [[B2]], dims = [1] : (tensor<10xf32>) -> tensor<128x10xf32>
// CHECK-NEXT:   [[ADD_4:%\w+]] = stablehlo.add [[DOT_2]], [[BROADCAST_2]] : tensor<128x10xf32>
// CHECK-NEXT:   [[EXP_2:%\w+]] = stablehlo.exponential [[ADD_4]] : tensor<128x10xf32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[EXP_2]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
// CHECK-NEXT:   [[LOG:%\w+]] = stablehlo.log [[REDUCE]] : tensor<128xf32>
// CHECK-NEXT:   [[BROADCAST_3:%\w+]] = stablehlo.broadcast_in_dim [[LOG]], dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
// CHECK-NEXT:   [[SUBTRACT_2:%\w+]] = stablehlo.subtract [[ADD_4]], [[BROADCAST_3]] : tensor<128x10xf32>
// CHECK-NEXT:   [[MULTIPLY_4:%\w+]] = stablehlo.multiply [[SUBTRACT_2]], [[Y]] : tensor<128x10xf32>
// CHECK-NEXT:   [[REDUCE_2:%\w+]] = stablehlo.reduce([[MULTIPLY_4]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   [[DIVIDE_2:%\w+]] = stablehlo.divide [[REDUCE_2]], [[C]] : tensor<f32>
// CHECK-NEXT:   [[DIVIDE_3:%\w+]] = stablehlo.divide [[CT]], [[C]] : tensor<f32>
// CHECK-NEXT:   [[BROADCAST_4:%\w+]] = stablehlo.broadcast_in_dim [[DIVIDE_3]], dims = [] : (tensor<f32>) -> tensor<128x10xf32>
// CHECK-NEXT:   [[MULTIPLY_5:%\w+]] = stablehlo.multiply [[BROADCAST_4]], [[Y]] : tensor<128x10xf32>
// CHECK-NEXT:   [[REDUCE_3:%\w+]] = stablehlo.reduce([[MULTIPLY_5]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
// CHECK-NEXT:   [[DIVIDE_4:%\w+]] = stablehlo.divide [[REDUCE_3]], [[REDUCE]] : tensor<128xf32>
// CHECK-NEXT:   [[BROADCAST_5:%\w+]] = stablehlo.broadcast_in_dim [[DIVIDE_4]], dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
// CHECK-NEXT:   [[MULTIPLY_6:%\w+]] = stablehlo.multiply [[BROADCAST_5]], [[EXP_2]] : tensor<128x10xf32>
// CHECK-NEXT:   [[SUBTRACT_3:%\w+]] = stablehlo.subtract [[MULTIPLY_5]], [[MULTIPLY_6]] : tensor<128x10xf32>
// CHECK-NEXT:   [[REDUCE_4:%\w+]] = stablehlo.reduce([[SUBTRACT_3]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<128x10xf32>, tensor<f32>) -> tensor<10xf32>
// CHECK-NEXT:   [[DOT_3:%\w+]] = stablehlo.dot_general [[TANH]], [[SUBTRACT_3]], contracting_dims = [0] x [0] : (tensor<128x32xf32>, tensor<128x10xf32>) -> tensor<32x10xf32>
// CHECK-NEXT:   [[DOT_4:%\w+]] = stablehlo.dot_general [[SUBTRACT_3]], [[W2]], contracting_dims = [1] x [1] : (tensor<128x10xf32>, tensor<32x10xf32>) -> tensor<128x32xf32>
// CHECK-NEXT:   [[MULTIPLY_7:%\w+]] = stablehlo.multiply [[DOT_4]], [[SELECT]] : tensor<128x32xf32>
// CHECK-NEXT:   [[REDUCE_5:%\w+]] = stablehlo.reduce([[MULTIPLY_7]] init: [[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<128x32xf32>, tensor<f32>) -> tensor<32xf32>
// CHECK-NEXT:   [[DOT_5:%\w+]] = stablehlo.dot_general [[X]], [[MULTIPLY_7]], contracting_dims = [0] x [0] : (tensor<128x64xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT:   return [[DIVIDE_2]], [[DOT_5]], [[REDUCE_5]], [[DOT_3]], [[REDUCE_4]] : tensor<f32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>
