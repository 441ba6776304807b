// IREE adds booleans modulo 2, here where it computes what follows along with the product.
// EXPECT: wrong
// SPEC: dot_general: "`body=lambda x, y: add(x, y)`", and add: "For booleans: logical OR."
// INPUT: [True, False, False]
// INPUT: [True]
func.func @main(%x: tensor<3x4xi1>, %y: tensor<4x3xi1>) -> tensor<3x3xi1> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x4xi1>, tensor<4x3xi1>) -> tensor<3x3xi1>
  %1 = stablehlo.not %0 : tensor<3x3xi1>
  return %1 : tensor<3x3xi1>
}
