// IREE's pattern for SPIR-V's unsigned operations refuses vectors of one element, which it makes.
// TARGETS: iree-vulkan
// EXPECT: refused
// INPUT: [7]
// INPUT: [2]
func.func @main(%x: tensor<8xui32>, %y: tensor<8xui32>) -> tensor<8xui32> {
  %0 = stablehlo.divide %x, %y : tensor<8xui32>
  return %0 : tensor<8xui32>
}
