// What is to be rounded up to the smallest normal number, IREE makes zero.
// EXPECT: wrong
// SPEC: convert: the nearest value is expected; "Otherwise, the behavior is TBD".
// INPUT: [0.0155, 0.015625, 0.015]
func.func @main(%x: tensor<3xf32>) -> tensor<3xf8E4M3FN> {
  %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
  return %0 : tensor<3xf8E4M3FN>
}
