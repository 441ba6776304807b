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

// Sums so far of 64-bit numbers are sums of shifted arrays.
func.func @running_sum(%x: tensor<4xf64>) -> tensor<4xf64> {
  %init = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
// CHECK:      func.func @running_sum
// CHECK-NOT:    stablehlo.reduce_window
// CHECK:        stablehlo.add
// CHECK-NOT:    stablehlo.reduce_window
// CHECK:        return

// Windows over all dimensions are taken one element after the other.
func.func @select_and_scatter(%x: tensor<4x4xf32>, %s: tensor<2x2xf32>, %init: tensor<f32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// CHECK:      func.func @select_and_scatter
// CHECK-NOT:    stablehlo.select_and_scatter
// CHECK:        stablehlo.scatter
