// IREE sums in the dtype of the result.
// EXPECT: wrong
// SPEC: The specification does not say in which type sums are computed; XLA widens them.
// INPUT: [1.0]
// INPUT: [1.0]
// TOLERANCE: 0.01
func.func @main(%x: tensor<1x600xbf16>, %y: tensor<600x1xbf16>) -> tensor<1x1xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<1x600xbf16>, tensor<600x1xbf16>) -> tensor<1x1xbf16>
  return %0 : tensor<1x1xbf16>
}
