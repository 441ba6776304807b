// For SPIR-V, IREE gives remainders of the smallest integer, its own absolute value, no sign.
// TARGETS: iree-vulkan
// EXPECT: wrong
// SPEC: remainder: "the sign of the result is taken from the dividend"
// INPUT: [-2147483648, -7]
// INPUT: [3, 3]
func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.remainder %x, %y : tensor<2xi32>
  return %0 : tensor<2xi32>
}
