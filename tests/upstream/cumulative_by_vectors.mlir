// A cumulative sum of a long vector: IREE adds one element after the other, on one processor.
// EXPECT: slow
// INPUT: [1.0, -1.0, 2.0]
func.func @main(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[999999, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1000000>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1000000xf32>, tensor<f32>) -> tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}
