// The expansion of CHLO rounds the square in exp(-x**2), which the exponential amplifies.
// EXPECT: wrong
// SPEC: CHLO's description names the function alone; how exact it is, is not said.
// INPUT: [4.5749297, 6.0, 8.1]
// TOLERANCE: 5e-07
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = chlo.erfc %x : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
