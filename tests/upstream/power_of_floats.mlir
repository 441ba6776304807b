// IREE's power is nan for many zeros and infinities.
// ISSUE: https://github.com/llvm/llvm-project/pull/193231
// EXPECT: wrong
// SPEC: power: "For floats: `pow` from IEEE-754."
// INPUT: [0.0, -inf, 1.0]
// INPUT: [0.0, 2.0, nan]
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.power %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}
