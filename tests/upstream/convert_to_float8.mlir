// IREE does not round float16 to 8-bit floats.
// EXPECT: refused
// INPUT: [1.5, -2.0]
func.func @main(%x: tensor<4xf16>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.convert %x : (tensor<4xf16>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
