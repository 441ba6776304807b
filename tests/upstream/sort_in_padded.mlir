// IREE writes what it sorts into the padded array of the windows, outside of any workgroup.
// EXPECT: refused
// INPUT: [3.0, 1.0, 2.0]
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "stablehlo.reduce_window"(%0, %z) <{padding = dense<1> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}
