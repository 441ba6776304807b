// In modules of a function that asks for it, products and sums of floats are kernels, however small.
// CHIP: x86-64-v4
// RUN: --pipeline "invariant-sums"

func.func @marked(%x: tensor<1x40xf32>, %w: tensor<40x3xf32>, %i: tensor<2x2xi32>) -> (tensor<1x3xf32>, tensor<1xf32>, tensor<2x2xi32>) attributes {irax.deterministic = "batch"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x40xf32>, tensor<40x3xf32>) -> tensor<1x3xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1x40xf32>, tensor<f32>) -> tensor<1xf32>
  %2 = stablehlo.dot_general %i, %i, contracting_dims = [1] x [0] : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0, %1, %2 : tensor<1x3xf32>, tensor<1xf32>, tensor<2x2xi32>
}
// CHECK:      func.func @marked
// CHECK-DAG:    flow.dispatch @{{product.*}}
// CHECK-DAG:    flow.dispatch @{{reduction.*}}
// CHECK-DAG:    stablehlo.dot_general {{.*}} tensor<2x2xi32>

func.func @products(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = stablehlo.multiply %y, %y : tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK-LABEL: func.func @products
// CHECK:       [[FIRST:%\w+]] = stablehlo.multiply %arg0, %arg0
// CHECK:       [[SECOND:%\w+]] = stablehlo.multiply %arg1, %arg1
// CHECK:       [[APART:%\w+]] = stablehlo.optimization_barrier [[SECOND]]
// CHECK:       stablehlo.add [[FIRST]], [[APART]]

func.func @rounded(%x: tensor<3x40xf32>, %w: tensor<40x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x40xf32>, tensor<40x3xf32>) -> tensor<3x3xf32>
  %1 = stablehlo.convert %0 : (tensor<3x3xf32>) -> tensor<3x3xbf16>
  %2 = stablehlo.convert %1 : (tensor<3x3xbf16>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}
// CHECK-LABEL: func.func @rounded
// CHECK:       [[NARROW:%\w+]] = stablehlo.optimization_barrier {{.*}} tensor<3x3xbf16>
// CHECK:       stablehlo.convert [[NARROW]]
