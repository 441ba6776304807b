// XLA multiplies no matrices of 64-bit integers on TPUs.
// TARGETS: tpu
// EXPECT: refused
// INPUT: [3]
// INPUT: [5]
func.func @main(%x: tensor<2x3xi64>, %y: tensor<3x2xi64>) -> tensor<2x2xi64> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}
