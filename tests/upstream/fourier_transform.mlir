// IREE has transforms of powers of two alone.
// ISSUE: https://github.com/iree-org/iree/issues/12263
// EXPECT: refused
// INPUT: [1.0, 2.0, 0.5]
func.func @main(%x: tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [6] : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
  return %0 : tensor<6xcomplex<f32>>
}
