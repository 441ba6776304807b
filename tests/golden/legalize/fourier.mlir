// A short transform is one product with a matrix: of both parts, with cosines and sines.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @short(%x: tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  return %0 : tensor<3x8xcomplex<f32>>
}
// CHECK:      func.func @short
// CHECK:        stablehlo.dot_general {{.*}} contracting_dims = [2] x [0] : (tensor<2x3x8xf32>, tensor<8x16xf32>) -> tensor<2x3x16xf32>
// CHECK-NOT:    dot_general
// CHECK:        stablehlo.complex

// A longer one, and one of several axes, are the host's.
func.func @fourier_transform_on_host(%x: tensor<3x128xf32>) -> tensor<3x65xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [128] : (tensor<3x128xf32>) -> tensor<3x65xcomplex<f32>>
  return %0 : tensor<3x65xcomplex<f32>>
}
// CHECK:      func.func @fourier_transform_on_host
// CHECK:        stablehlo.custom_call @irax_host.fft(%arg0) {{{.*}}kind = "RFFT", lengths = "128"{{.*}}} : (tensor<3x128xf32>) -> tensor<3x65xcomplex<f32>>

// Long rows of real numbers are complex ones, for which there are kernels.
func.func @long_real_rows(%x: tensor<4000xf32>) -> tensor<2001xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4000] : (tensor<4000xf32>) -> tensor<2001xcomplex<f32>>
  return %0 : tensor<2001xcomplex<f32>>
}
// CHECK:      func.func @long_real_rows
// CHECK:        [[X:%\w+]] = stablehlo.complex %arg0
// CHECK:        [[ALL:%\w+]] = stablehlo.fft [[X]], type = FFT, length = [4000]
// CHECK:        stablehlo.slice [[ALL]] [0:2001]

func.func @of_two_axes(%x: tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [4, 8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}
// CHECK:      func.func @of_two_axes
// CHECK:        stablehlo.custom_call @irax_host.fft(%arg0) {{{.*}}lengths = "4,8"
