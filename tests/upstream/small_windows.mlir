// Pooling of images whose rows are contiguous: IREE goes through each window.
// EXPECT: slow
// INPUT: [1.0, -1.0, 2.0]
func.func @main(%x: tensor<8x64x56x56xf32>) -> tensor<8x64x27x27xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x64x56x56xf32>, tensor<f32>) -> tensor<8x64x27x27xf32>
  return %0 : tensor<8x64x27x27xf32>
}
