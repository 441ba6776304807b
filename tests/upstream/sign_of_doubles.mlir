// IREE's compiler crashes on these, for AMD's GPUs.
// ISSUE: https://github.com/iree-org/iree/issues/24879
// TARGETS: iree-hip
// EXPECT: crashes
// INPUT: [1.0]
func.func @main(%x: tensor<7xf64>) -> tensor<7xf64> {
  %0 = stablehlo.sign %x : tensor<7xf64>
  return %0 : tensor<7xf64>
}
