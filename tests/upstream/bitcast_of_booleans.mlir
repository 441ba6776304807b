// XLA crashes: a boolean is a byte there.
// TARGETS: pjrt
// EXPECT: crashes
// INPUT: [1, 5]
func.func @main(%x: tensor<3xi32>) -> tensor<3x32xi1> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3xi32>) -> tensor<3x32xi1>
  return %0 : tensor<3x32xi1>
}
