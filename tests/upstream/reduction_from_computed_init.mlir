// IREE does not compile two reductions of windows that start from one value.
// TARGETS: iree-cuda
// EXPECT: refused
// INPUT: [3.0, 1.0, 2.0]
// INPUT: [0.5]
func.func @main(%x: tensor<4x6xf32>, %c: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>) {
  %k = stablehlo.constant dense<-1> : tensor<i32>
  %i = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi32>
  %0:2 = "stablehlo.reduce_window"(%x, %i, %c, %k) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %p: tensor<i32>, %b: tensor<f32>, %q: tensor<i32>):
    %g = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = stablehlo.select %g, %a, %b : tensor<i1>, tensor<f32>
    %n = stablehlo.select %g, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %m, %n : tensor<f32>, tensor<i32>
  }) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %1 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %1, %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>
}
