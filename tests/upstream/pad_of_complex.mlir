// IREE refuses to pad complex128.
// EXPECT: crashes
// INPUT: [1+2j]
func.func @main(%x: tensor<2xcomplex<f64>>) -> tensor<4xcomplex<f64>> {
  %c = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f64>>
  %0 = stablehlo.pad %x, %c, low = [1], high = [1], interior = [0] : (tensor<2xcomplex<f64>>, tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
