// Of each window of a constant whose elements are all the same, one element is read.
// EXPECT: wrong
// SPEC: reduce_window: "`results...[result_index] = reduce(windows, init_values, axes(inputs...),
// SPEC: body)`".
// INPUT: [1.0]
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<6000xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%one, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<6000xf32>, tensor<f32>) -> tensor<2999xf32>
  %2 = stablehlo.slice %0 [0:1] : (tensor<2999xf32>) -> tensor<1xf32>
  %3 = stablehlo.multiply %2, %x : tensor<1xf32>
  return %3 : tensor<1xf32>
}
