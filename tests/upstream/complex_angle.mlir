// IREE has no angle of two complex numbers.
// EXPECT: right
// INPUT: [1+1j, 2-1j]
// INPUT: [2.0, 1j]
func.func @main(%x: tensor<2xcomplex<f64>>, %y: tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>> {
  %0 = stablehlo.atan2 %x, %y : tensor<2xcomplex<f64>>
  return %0 : tensor<2xcomplex<f64>>
}
