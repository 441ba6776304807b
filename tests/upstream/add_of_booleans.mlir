// IREE adds booleans modulo 2; their sum is "or".
// EXPECT: wrong
// SPEC: add: "For booleans: logical OR."
// INPUT: [True, True]
// INPUT: [True, False]
func.func @main(%x: tensor<2xi1>, %y: tensor<2xi1>) -> tensor<2xi1> {
  %0 = stablehlo.add %x, %y : tensor<2xi1>
  return %0 : tensor<2xi1>
}
