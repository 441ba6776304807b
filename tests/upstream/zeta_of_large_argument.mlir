// The expansion of CHLO computes q**-s, which vanishes, for q**(1 - s) / (s - 1), which does not.
// EXPECT: wrong
// SPEC: CHLO's description names the function alone; how exact it is, is not said.
// INPUT: [2.0, 1.5]
// INPUT: [1e20, 1e30]
func.func @main(%s: tensor<2xf32>, %q: tensor<2xf32>) -> tensor<2xf32> {
  %0 = chlo.zeta %s, %q : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
