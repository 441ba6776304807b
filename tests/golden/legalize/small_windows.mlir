// Small windows that lie along rows: slices are combined along one dimension, then the next.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @small_windows(%x: tensor<16x64x64xf32>) -> tensor<16x31x31xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16x64x64xf32>, tensor<f32>) -> tensor<16x31x31xf32>
  return %0 : tensor<16x31x31xf32>
}
// CHECK:      func.func @small_windows([[X:%\w+]]: tensor<16x64x64xf32>)
// CHECK-DAG:    stablehlo.slice [[X]] [0:16, 0:61:2, 0:64]
// CHECK-DAG:    stablehlo.slice [[X]] [0:16, 1:62:2, 0:64]
// CHECK:        stablehlo.slice [[X]] [0:16, 2:63:2, 0:64]
// CHECK-NEXT:   [[ROWS:%\w+]] = stablehlo.add {{.*}} : tensor<16x31x64xf32>
// CHECK-NEXT:   [[APART:%\w+]] = stablehlo.optimization_barrier [[ROWS]]
// CHECK:        stablehlo.slice [[APART]] [0:16, 0:31, 2:63:2]
// CHECK-NEXT:   stablehlo.add {{.*}} : tensor<16x31x31xf32>

// Windows beside each other that are vectors, of channels, are combined at once, of the padded array too.
func.func @channels_last(%x: tensor<16x64x64x16xf32>) -> tensor<16x32x32x16xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16x64x64x16xf32>, tensor<f32>) -> tensor<16x32x32x16xf32>
  return %0 : tensor<16x32x32x16xf32>
}
// CHECK:      func.func @channels_last
// CHECK:        [[PADDED:%\w+]] = {{.*}} -> tensor<16x66x64x16xf32>
// CHECK-DAG:    stablehlo.slice [[PADDED]] [0:16, 0:63:2, 0:63:2, 0:16]
// CHECK-DAG:    stablehlo.slice [[PADDED]] [0:16, 0:63:2, 1:64:2, 0:16]
// CHECK-COUNT-5: stablehlo.maximum {{.*}} : tensor<16x32x32x16xf32>
// CHECK-NOT:    stablehlo.optimization_barrier

// Rows of few channels, which are no vectors, and large windows stay.
func.func @few_channels(%x: tensor<16x64x64x3xf32>, %y: tensor<16x64x64x16xf32>) -> (tensor<16x31x31x3xf32>, tensor<16x60x60x16xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16x64x64x3xf32>, tensor<f32>) -> tensor<16x31x31x3xf32>
  %1 = "stablehlo.reduce_window"(%y, %z) <{window_dimensions = array<i64: 1, 5, 5, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16x64x64x16xf32>, tensor<f32>) -> tensor<16x60x60x16xf32>
  return %0, %1 : tensor<16x31x31x3xf32>, tensor<16x60x60x16xf32>
}
// CHECK:      func.func @few_channels
// CHECK-COUNT-2: "stablehlo.reduce_window"
