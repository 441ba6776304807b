// SPIR-V rounds x / y, and takes that many y from x: of large quotients nothing is left.
// TARGETS: iree-vulkan
// EXPECT: wrong
// SPEC: remainder: "the absolute value of the result is always less than the divisor's absolute
// SPEC: value."
// INPUT: [1e30, 16777217.0]
// INPUT: [3.0, 0.1]
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.remainder %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}
