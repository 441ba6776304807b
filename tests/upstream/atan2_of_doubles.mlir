// IREE computes one element after the other.
// EXPECT: slow
// INPUT: [1.0, 0.5, 0.25]
// INPUT: [0.5, -0.75, 3.0]
func.func @main(%y: tensor<100000xf64>, %x: tensor<100000xf64>) -> tensor<100000xf64> {
  %0 = stablehlo.atan2 %y, %x : tensor<100000xf64>
  return %0 : tensor<100000xf64>
}
