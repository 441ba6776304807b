// IREE merges a pad of an array with the padding of its windows, wrongly where the first is interior.
// EXPECT: wrong
// SPEC: reduce_window: "`padded_inputs = pad(inputs..., init_values..., padding[:, 0], padding[:,
// SPEC: 1], base_dilations - 1)`", of what the first pad gives.
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<5xf32>) -> tensor<9xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [0], high = [0], interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = "stablehlo.reduce_window"(%0, %c) <{padding = dense<[[0, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  return %1 : tensor<9xf32>
}
