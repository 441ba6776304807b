// RUN: --pipeline "legalize{target=iree-cpu},canonicalize,cse"

// The bits of floats are integers'.
func.func @random_bits_of_floats(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf64>) {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf64>)
  return %0, %1 : tensor<2xui64>, tensor<4xf64>
}
// CHECK-LABEL: func.func @random_bits_of_floats
// CHECK:       stablehlo.rng_bit_generator {{.*}} -> (tensor<2xui64>, tensor<4xui64>)
// CHECK:       stablehlo.bitcast_convert {{.*}} -> tensor<4xf64>

// A counter of 128 bits, ten rounds of two products.
func.func @philox_by_words(%state: tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)
  return %0, %1 : tensor<3xui64>, tensor<5xui32>
}
// CHECK-LABEL:    func.func @philox_by_words
// CHECK-NOT:      stablehlo.rng_bit_generator
// CHECK-COUNT-20: stablehlo.multiply {{.*}} : tensor<2xui64>
// CHECK:          stablehlo.concatenate
