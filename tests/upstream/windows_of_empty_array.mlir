// Windows over an empty array see padding alone, which IREE and XLA leave out.
// TARGETS: iree-cpu, pjrt
// EXPECT: wrong
// SPEC: reduce_window: "`padded_inputs = pad(inputs..., init_values..., padding[:, 0], padding[:,
// SPEC: 1], base_dilations - 1)`."
// INPUT: [0.0]
func.func @main(%x: tensor<0xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[2, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<0xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
