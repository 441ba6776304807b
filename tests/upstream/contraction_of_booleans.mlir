// IREE refuses to sum booleans over several dimensions, and adds them modulo 2.
// EXPECT: right
// INPUT: [True]
// INPUT: [True]
func.func @main(%x: tensor<2x4x6xi1>, %y: tensor<4x6x2xi1>) -> tensor<2x2xi1> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1, 2] x [0, 1] : (tensor<2x4x6xi1>, tensor<4x6x2xi1>) -> tensor<2x2xi1>
  return %0 : tensor<2x2xi1>
}
