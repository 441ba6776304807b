// A transform of two axes is a kernel for rows and one for columns; a long row is a kernel for the
// columns of a matrix, with twiddle factors for its results, and one for rows that writes columns.
// RUN: --pipeline "fourier{workers=1}"
func.func @main(%x: tensor<2x33x40xcomplex<f32>>, %y: tensor<4000xcomplex<f32>>) -> (tensor<2x33x40xcomplex<f32>>, tensor<4000xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [33, 40] : (tensor<2x33x40xcomplex<f32>>) -> tensor<2x33x40xcomplex<f32>>
  %1 = stablehlo.fft %y, type = IFFT, length = [4000] : (tensor<4000xcomplex<f32>>) -> tensor<4000xcomplex<f32>>
  return %0, %1 : tensor<2x33x40xcomplex<f32>>, tensor<4000xcomplex<f32>>
}
// CHECK:      func.func @main
// CHECK:        [[ROWS:%\w+]]:2 = flow.dispatch @fourier::@fourier(%arg0, {{.*}}) : {{.*}} -> (tensor<2x33x40xcomplex<f32>>, tensor<1x2560xf32>)
// CHECK:        flow.dispatch @fourier_1::@fourier_1([[ROWS]]#0, {{.*}}) : {{.*}} -> (tensor<2x33x40xcomplex<f32>>, tensor<1x2112xf32>)
// CHECK:        [[COLUMNS:%\w+]]:2 = flow.dispatch @fourier_2::@fourier_2(%arg1, {{.*}}) : (tensor<4000xcomplex<f32>>, tensor<8098xf32>) -> (tensor<4000xcomplex<f32>>, tensor<1x3200xf32>)
// CHECK:        flow.dispatch @fourier_3::@fourier_3([[COLUMNS]]#0, {{.*}}) : {{.*}} -> (tensor<4000xcomplex<f32>>, tensor<1x5120xf32>)
// CHECK-NOT:    stablehlo.fft
