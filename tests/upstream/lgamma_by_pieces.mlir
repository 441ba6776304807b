// The expansion of CHLO loses digits near the zeros of the function, 1 and 2: of 1.01, two of seven.
// EXPECT: wrong
// SPEC: CHLO's description names the function alone; how exact it is, is not said.
// INPUT: [1.01, 1.99, 2.004]
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = chlo.lgamma %x : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
