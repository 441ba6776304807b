// IREE rounds by tests and masks of bits, in twice the time that an addition and a subtraction take.
// EXPECT: slow
// INPUT: [0.5, -1.5, 2.25]
func.func @main(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %0 = stablehlo.round_nearest_even %x : tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}
