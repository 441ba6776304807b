// IREE's atan2 is nan at (0, 0) and (inf, inf), and off by 5e-6.
// EXPECT: wrong
// SPEC: atan2: "For floats: `atan2` from IEEE-754.", of which atan2(0, 0) is 0 and atan2(inf, inf)
// SPEC: pi / 4.
// INPUT: [0.0, inf, 1.5]
// INPUT: [0.0, inf, 2.5]
// TOLERANCE: 1e-06
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.atan2 %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}
