// IREE computes some operands of a product along with it, which it does not compile, or does in
// threads that do not wait for each other.
// TARGETS: iree-vulkan
// EXPECT: refused
// INPUT: [1.0]
// INPUT: [1.0]
func.func @main(%x: tensor<64x64xbf16>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.convert %x : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
