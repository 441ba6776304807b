// IREE takes log(1 + x) at its word.
// EXPECT: wrong
// SPEC: log_plus_one: "For floats: `logp1` from IEEE-754."
// INPUT: [1e-17]
func.func @main(%x: tensor<1xf64>) -> tensor<1xf64> {
  %0 = stablehlo.log_plus_one %x : tensor<1xf64>
  return %0 : tensor<1xf64>
}
