// IREE takes log(1 + x) at its word: of small numbers few digits are right.
// TARGETS: iree-vulkan
// EXPECT: wrong
// SPEC: log_plus_one: "For floats: `logp1` from IEEE-754."
// INPUT: [1e-4, 1e-7]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.log_plus_one %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
