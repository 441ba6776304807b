// There are no transforms of complex128.
// TARGETS: tpu
// EXPECT: refused
// INPUT: [1.0, 2.0]
func.func @main(%x: tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>>
  return %0 : tensor<8xcomplex<f64>>
}
