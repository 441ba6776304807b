// IREE takes these for signed integers of one bit, and mixes up widths where it makes bfloat16 of
// integers for SPIR-V.
// TARGETS: iree-vulkan
// EXPECT: refused
// SPEC: convert: "the value `false` is converted to zero, and the value `true` is converted to
// SPEC: one."
// INPUT: [True, False]
func.func @main(%x: tensor<2x3xi1>) -> tensor<2x3xbf16> {
  %0 = stablehlo.convert %x : (tensor<2x3xi1>) -> tensor<2x3xbf16>
  return %0 : tensor<2x3xbf16>
}
