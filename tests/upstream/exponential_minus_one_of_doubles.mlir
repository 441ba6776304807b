// IREE takes exp(x) - 1 at its word.
// EXPECT: wrong
// SPEC: exponential_minus_one: "For floats: `expm1` from IEEE-754."
// INPUT: [1e-17]
func.func @main(%x: tensor<1xf64>) -> tensor<1xf64> {
  %0 = stablehlo.exponential_minus_one %x : tensor<1xf64>
  return %0 : tensor<1xf64>
}
