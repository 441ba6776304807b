// IREE looks at the lowest bits of the exponent only.
// EXPECT: wrong
// SPEC: power: "For integers: integer exponentiation."
// INPUT: [1, 0, 3]
// INPUT: [64, 0, 64]
func.func @main(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %0 = stablehlo.power %x, %y : tensor<3xi32>
  return %0 : tensor<3xi32>
}
