// There are no functions of some 8-bit floats.
// EXPECT: refused
// INPUT: [1.5, -0.5]
// TOLERANCE: 0.1
func.func @main(%x: tensor<2xf8E5M2>) -> tensor<2xf8E5M2> {
  %0 = stablehlo.abs %x : tensor<2xf8E5M2>
  return %0 : tensor<2xf8E5M2>
}
