// IREE computes one element after the other.
// EXPECT: slow
// INPUT: [1.0, 0.5, 0.25]
func.func @main(%x: tensor<100000xf64>) -> tensor<100000xf64> {
  %0 = stablehlo.sine %x : tensor<100000xf64>
  return %0 : tensor<100000xf64>
}
