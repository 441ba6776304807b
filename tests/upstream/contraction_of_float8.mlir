// IREE multiplies no matrices of 8-bit floats on GPUs.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: refused
// SPEC: dot_general: the results are sums of products, by "`body=lambda x, y: add(x, y)`".
// INPUT: [1.0]
// INPUT: [2.0]
func.func @main(%x: tensor<4x4xf8E4M3FN>, %y: tensor<4x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
  return %0 : tensor<4x4xf8E4M3FN>
}
