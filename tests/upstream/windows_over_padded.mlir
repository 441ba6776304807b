// XLA leaves padding out of the windows, where it is to count as what they start from.
// TARGETS: pjrt
// EXPECT: wrong
// SPEC: reduce_window: "`padded_inputs = pad(inputs..., init_values..., padding[:, 0], padding[:,
// SPEC: 1], base_dilations - 1)`", so that padding counts as the init value.
// INPUT: [1.0, 2.0]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
