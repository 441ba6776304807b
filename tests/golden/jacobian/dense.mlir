// The matrix: a tangent for each element of the argument.

// RUN: --pipeline "jacobian{func=main dense=true}"
func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1xf32>
  %1 = stablehlo.concatenate %x, %0, dim = 0 : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
// CHECK:      func.func @main.jacobian([[X:%\w+]]: tensor<2xf32>) -> tensor<3x2xf32>
