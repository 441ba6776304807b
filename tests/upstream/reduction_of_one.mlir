// IREE forgets the init value where no dimension is folded, XLA where those that are have one
// element.
// TARGETS: iree-cpu, pjrt
// EXPECT: wrong
// SPEC: reduce: "`schedule`" consists of the values "Interspersed with an implementation-defined
// SPEC: amount of `init_values_converted`"; JAX and the description of XLA count it once, and
// SPEC: leaving it out is allowed only for a monoid.
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<3x1xf32>) -> (tensor<3xf32>, tensor<3x1xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  return %0, %1 : tensor<3xf32>, tensor<3x1xf32>
}
