// The expansion of CHLO halves an exponential by its exponent, which is rounded.
// EXPECT: wrong
// SPEC: CHLO's description names the function alone; how exact it is, is not said.
// INPUT: [83.86677, 60.0, 88.7]
// TOLERANCE: 5e-07
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = chlo.sinh %x : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
