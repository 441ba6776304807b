// IREE and XLA sum bfloat16 without a wider accumulator: the 257th one changes it no more.
// TARGETS: iree-cpu, pjrt
// EXPECT: wrong
// SPEC: The specification does not say in which type sums are computed; the order, which is open,
// SPEC: allows a sum by halves that keeps all terms.
// INPUT: [1.0]
// TOLERANCE: 0.01
func.func @main(%x: tensor<65536xbf16>) -> tensor<bf16> {
  %c = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<65536xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}
