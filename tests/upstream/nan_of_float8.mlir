// One of the two nans is -480 on IREE.
// EXPECT: wrong
// SPEC: convert of a nan, which the destination type can represent: "the result value is that
// SPEC: exact representation."
// INPUT: [nan, -nan]
func.func @main(%x: tensor<2xf8E4M3FN>) -> tensor<2xf32> {
  %0 = stablehlo.convert %x : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
