// IREE takes these for signed integers of one bit, which it has no SPIR-V for.
// TARGETS: iree-vulkan
// EXPECT: right
// INPUT: [True, False]
func.func @main(%x: tensor<2x3xi1>) -> tensor<2x3xf16> {
  %0 = stablehlo.convert %x : (tensor<2x3xi1>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}
