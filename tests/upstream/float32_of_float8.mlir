// IREE converts no 8-bit floats on GPUs.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: refused
// INPUT: [1.5]
func.func @main(%x: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
