// Pooling of padded images whose channels are contiguous: IREE asks of each element if it is padding.
// EXPECT: slow
// INPUT: [1.0, -1.0, 2.0]
func.func @main(%x: tensor<8x56x56x64xf32>) -> tensor<8x28x28x64xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<8x28x28x64xf32>
  return %0 : tensor<8x28x28x64xf32>
}
