// IREE counts bfloat16 with bits of another width.
// TARGETS: iree-vulkan
// EXPECT: refused
// SPEC: iota: "Fills an `output` tensor with values in increasing order starting from zero along
// SPEC: the `iota_dimension` dimension."
func.func @main() -> tensor<3x2xbf16> {
  %0 = stablehlo.iota dim = 0 : tensor<3x2xbf16>
  return %0 : tensor<3x2xbf16>
}
