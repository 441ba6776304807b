// Transforms of enough rows, of lengths with small factors, are kernels; equal ones share one. The
// others stay: few rows, short ones, and lengths with a large prime factor.
// RUN: --pipeline "fourier{workers=2}"
// CHECK: stream.executable private @fourier
// CHECK: stream.return %c2
// CHECK: vector.shuffle
// CHECK: math.fma
func.func @main(%x: tensor<8192x64xcomplex<f32>>, %y: tensor<8x120xf64>, %z: tensor<3x56xcomplex<f32>>, %p: tensor<64x127xcomplex<f32>>, %s: tensor<64x8xcomplex<f32>>) -> (tensor<8192x64xcomplex<f32>>, tensor<8192x64xcomplex<f32>>, tensor<8x61xcomplex<f64>>, tensor<3x56xcomplex<f32>>, tensor<64x127xcomplex<f32>>, tensor<64x8xcomplex<f32>>) {
  // CHECK: func.func @main
  // CHECK: [[TURNS:%\w+]] = stablehlo.constant {{.*}} : tensor<126xf32>
  // CHECK: [[A:%\w+]] = flow.dispatch @fourier::@fourier(%arg0, [[TURNS]]) : {{.*}} -> tensor<8192x64xcomplex<f32>>
  %0 = stablehlo.fft %x, type = FFT, length = [64] : (tensor<8192x64xcomplex<f32>>) -> tensor<8192x64xcomplex<f32>>
  // CHECK: flow.dispatch @fourier::@fourier([[A]]
  %1 = stablehlo.fft %0, type = FFT, length = [64] : (tensor<8192x64xcomplex<f32>>) -> tensor<8192x64xcomplex<f32>>
  // CHECK: flow.dispatch @fourier_1::@fourier_1(%arg1
  %2 = stablehlo.fft %y, type = RFFT, length = [120] : (tensor<8x120xf64>) -> tensor<8x61xcomplex<f64>>
  // CHECK-COUNT-3: stablehlo.fft
  %3 = stablehlo.fft %z, type = FFT, length = [56] : (tensor<3x56xcomplex<f32>>) -> tensor<3x56xcomplex<f32>>
  %4 = stablehlo.fft %p, type = FFT, length = [127] : (tensor<64x127xcomplex<f32>>) -> tensor<64x127xcomplex<f32>>
  %5 = stablehlo.fft %s, type = FFT, length = [8] : (tensor<64x8xcomplex<f32>>) -> tensor<64x8xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5 : tensor<8192x64xcomplex<f32>>, tensor<8192x64xcomplex<f32>>, tensor<8x61xcomplex<f64>>, tensor<3x56xcomplex<f32>>, tensor<64x127xcomplex<f32>>, tensor<64x8xcomplex<f32>>
}

// A row of which whole vectors have too few columns is transformed in vectors of half the length.
func.func @short(%x: tensor<90xcomplex<f32>>) -> tensor<90xcomplex<f32>> {
  // CHECK: func.func @short
  // CHECK: [[COLUMNS:%\w+]] = flow.dispatch @[[FIRST:\w+]]::
  // CHECK: flow.dispatch @{{\w+}}::@{{\w+}}([[COLUMNS]]
  %0 = stablehlo.fft %x, type = FFT, length = [90] : (tensor<90xcomplex<f32>>) -> tensor<90xcomplex<f32>>
  return %0 : tensor<90xcomplex<f32>>
}
