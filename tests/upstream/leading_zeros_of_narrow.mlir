// SPIR-V looks for bits in 32-bit integers alone.
// TARGETS: iree-vulkan
// EXPECT: refused
// SPEC: count_leading_zeros: "Performs element-wise count of the number of leading zero bits in
// SPEC: the `operand` tensor".
// INPUT: [3, 1]
func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {
  %0 = stablehlo.count_leading_zeros %x : tensor<2xi8>
  return %0 : tensor<2xi8>
}
