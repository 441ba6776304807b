// Elements that no window has are not computed either where they are a result themselves.
// EXPECT: wrong
// SPEC: negate: each operation computes all elements of its result.
// INPUT: [1.0, 2.0, 3.0, 4.0, 5.0]
func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<5xf32>
  %1 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1 : tensor<5xf32>, tensor<3xf32>
}
