// IREE converts what an integer type cannot hold to arbitrary integers.
// EXPECT: wrong
// SPEC: convert to an integer: "If the truncated value cannot be represented in the destination
// SPEC: type, the behavior is TBD"; saturation, and zero of nan, are expected, as XLA has them.
// INPUT: [1000.0, -1000.0, nan, inf]
func.func @main(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
