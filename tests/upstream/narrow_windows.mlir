// IREE and XLA round every partial sum of bfloat16: the 257th term changes it no more.
// TARGETS: pjrt, iree-cpu
// EXPECT: wrong
// SPEC: The specification does not say in which type sums are computed; the order, which is open,
// SPEC: allows a sum by halves that keeps all terms.
// INPUT: [1.0]
// TOLERANCE: 0.01
func.func @main(%x: tensor<600xbf16>) -> tensor<89xbf16> {
  %c = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 512>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<600xbf16>, tensor<bf16>) -> tensor<89xbf16>
  return %0 : tensor<89xbf16>
}
