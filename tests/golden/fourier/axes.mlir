// A transform of two axes is a kernel for rows and one for columns; a long row is a kernel for the
// columns of a matrix that writes rows, with twiddle factors, and one for columns, which may be in
// place. Scratch memory is on the stack, or a further result.
// RUN: --pipeline "fourier{workers=1}"
func.func @main(%x: tensor<2x33x40xcomplex<f32>>, %y: tensor<4000xcomplex<f32>>, %z: tensor<16x8192xcomplex<f32>>) -> (tensor<2x33x40xcomplex<f32>>, tensor<4000xcomplex<f32>>, tensor<16x8192xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [33, 40] : (tensor<2x33x40xcomplex<f32>>) -> tensor<2x33x40xcomplex<f32>>
  %1 = stablehlo.fft %y, type = IFFT, length = [4000] : (tensor<4000xcomplex<f32>>) -> tensor<4000xcomplex<f32>>
  %2 = stablehlo.fft %z, type = FFT, length = [8192] : (tensor<16x8192xcomplex<f32>>) -> tensor<16x8192xcomplex<f32>>
  return %0, %1, %2 : tensor<2x33x40xcomplex<f32>>, tensor<4000xcomplex<f32>>, tensor<16x8192xcomplex<f32>>
}
// CHECK:      func.func @fourier_4({{.*}}) attributes {in_place = array<i64: 2, 0>
// CHECK-NOT:    memref.alloca
// CHECK:      func.func @fourier_3({{.*}}) attributes {in_place = array<i64: 2, 0>
// CHECK:        memref.alloca() alignment = 64 : memref<3200xf32>
// CHECK-NOT:  in_place
// CHECK:      func.func @main
// CHECK:        [[ROWS:%\w+]] = flow.dispatch @fourier::@fourier(%arg0, {{.*}}) : {{.*}} -> tensor<2x33x40xcomplex<f32>>
// CHECK:        flow.dispatch @fourier_1::@fourier_1([[ROWS]], {{.*}}) : {{.*}} -> tensor<2x33x40xcomplex<f32>>
// CHECK:        [[COLUMNS:%\w+]] = flow.dispatch @fourier_2::@fourier_2(%arg1, {{.*}}) : (tensor<4000xcomplex<f32>>, tensor<8158xf32>) -> tensor<4000xcomplex<f32>>
// CHECK:        flow.dispatch @fourier_3::@fourier_3([[COLUMNS]], {{.*}}) : {{.*}} -> tensor<4000xcomplex<f32>>
// CHECK:        flow.dispatch @fourier_4::@fourier_4(%arg2, {{.*}}) : {{.*}} -> (tensor<16x8192xcomplex<f32>>, tensor<1x524288xf32>)
// CHECK-NOT:    stablehlo.fft
