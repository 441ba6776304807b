// IREE takes a state of three words for one of two: the last word makes no difference.
// EXPECT: wrong
// SPEC: rng_bit_generator: "`PHILOX` | [...] dimension size 2 or 3". The bits are left to the
// SPEC: implementation; XLA has the same for all its devices.
// INPUT: [1, 2, 3]
func.func @main(%state: tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %0, %1 : tensor<3xui64>, tensor<4xui32>
}
