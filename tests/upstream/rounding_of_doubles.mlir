// XLA rounds neither of the two parts of a float64.
// TARGETS: tpu
// EXPECT: wrong
// SPEC: reduce_precision: "round the original value to the nearest value representable with
// SPEC: `mantissa_bits`".
// INPUT: [1.1]
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  %0 = stablehlo.reduce_precision %x, format = e11m20 : tensor<2xf64>
  return %0 : tensor<2xf64>
}
