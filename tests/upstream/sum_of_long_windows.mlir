// IREE adds the elements of a window one by one: of many, digits are lost.
// EXPECT: wrong
// SPEC: The specification does not say how exact a sum is; its order is "implementation-defined".
// INPUT: [0.1]
func.func @main(%x: tensor<300000xf32>) -> tensor<3xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 100000>, window_strides = array<i64: 100000>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<300000xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
