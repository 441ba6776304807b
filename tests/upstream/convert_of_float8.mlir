// IREE converts 8-bit floats to few dtypes.
// EXPECT: refused
// INPUT: [1.5, -2.0]
func.func @main(%x: tensor<4xf8E4M3FN>) -> tensor<4xf16> {
  %0 = stablehlo.convert %x : (tensor<4xf8E4M3FN>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
