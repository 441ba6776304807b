// IREE's atan2 is nan at (0, 0) and (inf, inf), and off by 5e-6.
// EXPECT: wrong
// INPUT: [0.0, inf, 1.5]
// INPUT: [0.0, inf, 2.5]
// TOLERANCE: 1e-06
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.atan2 %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}
