// RUN: --pipeline "loop-invariant-code-motion"

// A product that all steps compute alike goes before the loop, and what it is made of; a constant
// that the loop uses besides stays there too.
func.func @main(%x: tensor<3xf32>, %w: tensor<3x3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<3xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<3x3xf32>
    %scaled = stablehlo.multiply %w, %half : tensor<3x3xf32>
    %square = stablehlo.dot_general %scaled, %w, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %a = stablehlo.multiply %square, %half : tensor<3x3xf32>
    %column = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<3xf32>) -> tensor<3x3xf32>
    %b = stablehlo.add %column, %half : tensor<3x3xf32>
    %c = stablehlo.multiply %a, %b : tensor<3x3xf32>
    %z = stablehlo.dot_general %c, %y, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %z : tensor<i32>, tensor<3xf32>
  }
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK:         [[HALF:%\w+]] = stablehlo.constant dense<5.000000e-01>
// CHECK:         [[SCALED:%\w+]] = stablehlo.multiply %arg1, [[HALF]]
// CHECK:         [[SQUARE:%\w+]] = stablehlo.dot_general [[SCALED]], %arg1
// CHECK:         [[A:%\w+]] = stablehlo.multiply [[SQUARE]], [[HALF]]
// CHECK:         stablehlo.while
// CHECK:         } do {
// CHECK:         [[OWN:%\w+]] = stablehlo.constant dense<5.000000e-01>
// CHECK:         [[B:%\w+]] = stablehlo.add {{%\w+}}, [[OWN]]
// CHECK:         [[C:%\w+]] = stablehlo.multiply [[A]], [[B]]
// CHECK-NEXT:    stablehlo.dot_general [[C]]

// A mask is made of less than it takes to read it: it stays. A sine of as many elements does not.
func.func @inflated(%x: tensor<64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %s = %y) : tensor<i32>, tensor<64x64xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %rows = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
    %columns = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
    %mask = stablehlo.compare LT, %rows, %columns : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
    %sum = stablehlo.add %rows, %columns : tensor<64x64xf32>
    %sine = stablehlo.sine %sum : tensor<64x64xf32>
    %t = stablehlo.select %mask, %s, %sine : tensor<64x64xi1>, tensor<64x64xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<64x64xf32>
  }
  return %0#1 : tensor<64x64xf32>
}
// CHECK-LABEL: func.func @inflated(
// CHECK:         stablehlo.sine
// CHECK:         stablehlo.while
// CHECK:         } do {
// CHECK:         stablehlo.compare LT, {{.*}} tensor<64x64xi1>
// CHECK-NEXT:    stablehlo.select

// Out of the inner loop, and then of the outer; a barrier stays, and what depends on it.
func.func @nested(%x: tensor<f32>, %w: tensor<3xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<f32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%k = %zero, %t = %s) : tensor<i32>, tensor<f32>
     cond {
      %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %sum = stablehlo.reduce(%w init: %init) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      %kept = stablehlo.optimization_barrier %w : tensor<3xf32>
      %largest = stablehlo.reduce(%kept init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      %a = stablehlo.add %t, %sum : tensor<f32>
      %b = stablehlo.multiply %a, %largest : tensor<f32>
      %l = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %l, %b : tensor<i32>, tensor<f32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %1#1 : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
// CHECK-LABEL: func.func @nested(
// CHECK:         stablehlo.reduce({{.*}} applies stablehlo.add
// CHECK:         stablehlo.while
// CHECK:         stablehlo.while
// CHECK:         } do {
// CHECK:         stablehlo.optimization_barrier
// CHECK-NEXT:    stablehlo.reduce({{.*}} applies stablehlo.maximum
