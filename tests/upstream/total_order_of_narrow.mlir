// IREE loses the sign of nan where it compares narrow floats.
// EXPECT: wrong
// SPEC: compare: "For floating-point element types with `compare_type = TOTALORDER`, the op uses
// SPEC: the combination of `totalOrder` and `compareQuietEqual` operations from IEEE-754."
// INPUT: [1.0, nan, -nan, inf, -inf]
func.func @main(%x0: tensor<5xbf16>) -> tensor<5xbf16> {
  %0 = "stablehlo.sort"(%x0) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a0: tensor<bf16>, %b0: tensor<bf16>):
    %1 = stablehlo.compare LT, %a0, %b0, TOTALORDER : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5xbf16>) -> tensor<5xbf16>
  return %0 : tensor<5xbf16>
}
