// For processors without instructions for bfloat16, IREE's conversion of integers calls
// __truncsfbf2, which programs do not contain.
// TARGETS: iree-cpu:x86-64-v3
// EXPECT: refused
// INPUT: [1, 257, -3]
func.func @main(%x: tensor<4xi32>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
