// IREE adds complex numbers one by one: of many, digits are lost.
// EXPECT: wrong
// SPEC: The specification does not say how exact a sum is; its order is "implementation-defined".
// INPUT: [0.1+0.1j]
func.func @main(%x: tensor<300000xcomplex<f32>>) -> tensor<complex<f32>> {
  %c = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<300000xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}
