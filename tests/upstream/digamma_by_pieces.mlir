// The expansion of CHLO has -inf at this pole, and nan at all others.
// ISSUE: https://github.com/jax-ml/jax/issues/37763
// EXPECT: wrong
// SPEC: CHLO's description names the function alone, not its poles; nan is expected at each, as in
// SPEC: SciPy.
// INPUT: [0.0]
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = chlo.digamma %x : tensor<1xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
