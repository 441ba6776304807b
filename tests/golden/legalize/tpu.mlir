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

// A product of 64-bit integers is a sum of products of elements.
func.func @product(%x: tensor<4x3xi64>, %y: tensor<3x2xi64>) -> tensor<4x2xi64> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x3xi64>, tensor<3x2xi64>) -> tensor<4x2xi64>
  return %0 : tensor<4x2xi64>
}
// CHECK:      func.func @product
// CHECK:        %[[X:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 2]
// CHECK:        %[[Y:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [2, 1]
// CHECK:        stablehlo.multiply %[[X]], %[[Y]] : tensor<4x2x3xi64>
// CHECK:        stablehlo.reduce
// CHECK:        return

// One of 32-bit integers stays as it is.
func.func @short_product(%x: tensor<4x3xi32>, %y: tensor<3x2xi32>) -> tensor<4x2xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}
// CHECK:      func.func @short_product
// CHECK:        stablehlo.dot_general %arg0, %arg1

// A convolution of them is a sum of such products, one for each element of the window.
func.func @convolution(%x: tensor<1x8x1xui64>, %y: tensor<2x1x1xui64>) -> tensor<1x7x1xui64> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x1xui64>, tensor<2x1x1xui64>) -> tensor<1x7x1xui64>
  return %0 : tensor<1x7x1xui64>
}
// CHECK:      func.func @convolution
// CHECK-NOT:    stablehlo.convolution
// CHECK-COUNT-2: stablehlo.multiply
// CHECK-NOT:    stablehlo.multiply
// CHECK:        return
