// IREE's compiler crashes where it fuses a slice of what is computed from a constant array with a reduction.
// TARGETS: iree-cuda, iree-hip
// EXPECT: crashes
// INPUT: [1.0]
func.func @main(%x: tensor<3x2xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = stablehlo.add %x, %y : tensor<3x2xf32>
  %1 = stablehlo.slice %0 [0:2, 0:2] : (tensor<3x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
