// RUN: --pipeline "legalize{target=tpu}"

// A transform of 64-bit numbers is a product with a matrix.
func.func @of_doubles(%x: tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>>
  return %0 : tensor<8xcomplex<f64>>
}
// CHECK:      func.func @of_doubles
// CHECK-NOT:    stablehlo.fft
// CHECK:        stablehlo.dot_general
// CHECK:        return

// One of 32-bit numbers stays as it is.
func.func @of_floats(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}
// CHECK:      func.func @of_floats
// CHECK:        stablehlo.fft %arg0
