// The expansion of CHLO is that of zeta, in which x**-(n + 1) vanishes where x**-n does not.
// EXPECT: wrong
// SPEC: CHLO's description names the function alone; how exact it is, is not said.
// INPUT: [1.0, 2.0]
// INPUT: [1e20, 1e15]
func.func @main(%n: tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = chlo.polygamma %n, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
