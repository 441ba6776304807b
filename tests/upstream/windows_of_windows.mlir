// IREE fuses windows of windows of windows, each with its padding, and refuses the kernel.
// EXPECT: refused
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<50xf32>) -> tensor<50xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<50xf32>, tensor<f32>) -> tensor<50xf32>
  %1 = "stablehlo.reduce_window"(%0, %c) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<50xf32>, tensor<f32>) -> tensor<50xf32>
  %2 = "stablehlo.reduce_window"(%1, %c) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<50xf32>, tensor<f32>) -> tensor<50xf32>
  return %2 : tensor<50xf32>
}
