// One element, taken as a slice and reshaped, cannot be fused into a pad.
// EXPECT: refused
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<6xf32>) -> (tensor<2x4xf32>, tensor<1x1xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [2:3] : (tensor<6xf32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<1x1xf32>
  %2 = stablehlo.pad %1, %z, low = [1, 2], high = [0, 1], interior = [0, 0] : (tensor<1x1xf32>, tensor<f32>) -> tensor<2x4xf32>
  %3 = stablehlo.negate %1 : tensor<1x1xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<1x1xf32>
}
