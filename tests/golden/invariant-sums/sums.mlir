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
