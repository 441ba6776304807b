// IREE makes words of 32 bits where the elements are floats of another width.
// EXPECT: refused
// INPUT: [1, 2]
func.func @main(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf64>) {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf64>)
  return %0, %1 : tensor<2xui64>, tensor<4xf64>
}
