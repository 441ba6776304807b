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

// A longer one is two, with a factor for each number between them.
func.func @composite(%x: tensor<3x128xf32>) -> tensor<3x65xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [128] : (tensor<3x128xf32>) -> tensor<3x65xcomplex<f32>>
  return %0 : tensor<3x65xcomplex<f32>>
}
// CHECK:      func.func @composite
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<2x3x2x128xf32>
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<2x192x4xf32>
// CHECK-NOT:    dot_general

// Of two axes, first the last one, then the other as the last.
func.func @fourier_transform_by_axes(%x: tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [4, 8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}
// CHECK:      func.func @fourier_transform_by_axes
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<2x4x16xf32>
// CHECK:        stablehlo.transpose {{.*}} dims = [1, 0]
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<2x8x8xf32>
// CHECK:        stablehlo.transpose {{.*}} dims = [1, 0]
