// IREE refuses to pad unsigned integers for windows.
// EXPECT: refused
// INPUT: [3, 1, 2, 0]
func.func @main(%x: tensor<4xui32>) -> tensor<4xui32> {
  %c = stablehlo.constant dense<0> : tensor<ui32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %1 = stablehlo.maximum %a, %b : tensor<ui32>
    stablehlo.return %1 : tensor<ui32>
  }) : (tensor<4xui32>, tensor<ui32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}
