// 288 and 320, of the largest exponent, stay as if they were infinite; to a bit they are 256 and 384.
// EXPECT: wrong
// SPEC: reduce_precision: "The mantissa bits of the original value are updated to round the
// SPEC: original value to the nearest value representable with `mantissa_bits` using
// SPEC: `roundToIntegralTiesToEven` semantics."
// INPUT: [288.0, 352.0, 1.25]
func.func @main(%x: tensor<3xf8E4M3FN>) -> tensor<3xf8E4M3FN> {
  %0 = stablehlo.reduce_precision %x, format = e8m1 : tensor<3xf8E4M3FN>
  return %0 : tensor<3xf8E4M3FN>
}
