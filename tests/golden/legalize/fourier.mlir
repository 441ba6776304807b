// Transforms of a few short rows are one product with a matrix: of both parts, with cosines and sines.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @fourier_transform_of_few_rows(%x: tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  return %0 : tensor<3x8xcomplex<f32>>
}
// CHECK:      func.func @fourier_transform_of_few_rows
// CHECK:        stablehlo.dot_general {{.*}} contracting_dims = [1] x [0] : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
// CHECK-NOT:    dot_general
// CHECK:        stablehlo.complex

// So are those of real numbers, and to real numbers.
func.func @real_rows(%x: tensor<150xf32>) -> tensor<150xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [150] : (tensor<150xf32>) -> tensor<76xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [150] : (tensor<76xcomplex<f32>>) -> tensor<150xf32>
  return %1 : tensor<150xf32>
}
// CHECK:      func.func @real_rows
// CHECK:        stablehlo.dot_general {{.*}} (tensor<150xf32>, tensor<150x152xf32>) -> tensor<152xf32>
// CHECK:        [[ALL:%\w+]] = stablehlo.dot_general {{.*}} (tensor<152xf32>, tensor<152x150xf32>) -> tensor<150xf32>
// CHECK:        return [[ALL]]

// Those of some more rows are products of both parts with cosines and sines.
func.func @fourier_transform_without_kernel(%x: tensor<12x62xcomplex<f32>>) -> tensor<12x62xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [62] : (tensor<12x62xcomplex<f32>>) -> tensor<12x62xcomplex<f32>>
  return %0 : tensor<12x62xcomplex<f32>>
}
// CHECK:      func.func @fourier_transform_without_kernel
// CHECK:        stablehlo.dot_general {{.*}} contracting_dims = [2] x [0] : (tensor<2x12x62xf32>, tensor<62x124xf32>) -> tensor<2x12x124xf32>
// CHECK-NOT:    dot_general
// CHECK:        stablehlo.complex

// A longer one, and one of several axes, are the host's.
func.func @fourier_transform_on_host(%x: tensor<3x331xf32>) -> tensor<3x166xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [331] : (tensor<3x331xf32>) -> tensor<3x166xcomplex<f32>>
  return %0 : tensor<3x166xcomplex<f32>>
}
// CHECK:      func.func @fourier_transform_on_host
// CHECK:        stablehlo.custom_call @irax_host.fft(%arg0) {{{.*}}kind = "RFFT", lengths = "331"{{.*}}} : (tensor<3x331xf32>) -> tensor<3x166xcomplex<f32>>

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
