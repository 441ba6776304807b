// Sums of many numbers are sums of blocks.
// RUN: --pipeline "partial-sums"

func.func @sum(%x: tensor<1000000xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<1000000xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK:      func.func @sum([[X:%\w+]]: tensor<1000000xf32>, [[INIT:%\w+]]:
// CHECK-DAG:    [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG:    [[BLOCKS:%\w+]] = stablehlo.reshape [[X]] : (tensor<1000000xf32>) -> tensor<6250x160xf32>
// CHECK:        [[SUMS:%\w+]] = stablehlo.reduce([[BLOCKS]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1]
// CHECK:        [[AGAIN:%\w+]] = stablehlo.reshape [[SUMS]]
// CHECK:        [[FEW:%\w+]] = stablehlo.reduce([[AGAIN]] init: [[ZERO]])
// CHECK:        stablehlo.reduce([[FEW]] init: [[INIT]])

// What no number of blocks divides is filled up.
func.func @of_a_prime(%x: tensor<1031x3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1031x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK:      func.func @of_a_prime
// CHECK:        stablehlo.pad {{.*}} high = [121, 0]
// CHECK:        stablehlo.reshape {{.*}} -> tensor<9x128x3xf32>
// CHECK:        stablehlo.reduce({{.*}} across dimensions = [1]

// Sums of several arrays, too; extrema and integers are not rounded.
func.func @two(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%x init: %zero), (%y init: %zero) across dimensions = [0] : (tensor<4096xf32>, tensor<4096xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>)  {
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = stablehlo.add %c, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
// CHECK:      func.func @two
// CHECK:        stablehlo.reduce({{.*}} across dimensions = [1] : (tensor<32x128xf32>, tensor<32x128xf32>,

func.func @exact(%x: tensor<4096xf32>, %y: tensor<4096xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0 = stablehlo.reduce(%x init: %a) applies stablehlo.maximum across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%y init: %b) applies stablehlo.add across dimensions = [0] : (tensor<4096xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<f32>, tensor<i32>
}
// CHECK:      func.func @exact
// CHECK-NOT:    stablehlo.reshape

// Products are sums of the products of blocks.
func.func @product(%x: tensor<32x65536xf32>, %y: tensor<65536x8xf32>) -> tensor<32x8xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<32x65536xf32>, tensor<65536x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}
// CHECK:      func.func @product
// CHECK-DAG:    [[X:%\w+]] = stablehlo.reshape %arg0 : (tensor<32x65536xf32>) -> tensor<32x128x512xf32>
// CHECK-DAG:    [[Y:%\w+]] = stablehlo.reshape %arg1 : (tensor<65536x8xf32>) -> tensor<128x512x8xf32>
// CHECK:        [[PARTS:%\w+]] = stablehlo.dot_general [[X]], [[Y]], batching_dims = [1] x [0], contracting_dims = [2] x [1]
// CHECK:        stablehlo.reduce([[PARTS]] init: {{.*}} across dimensions = [0] : (tensor<128x32x8xf32>, tensor<f32>) -> tensor<32x8xf32>
