// RUN: --pipeline "elementwise"

// A row and a column are broadcast. The 1000 elements of a row are 62 vectors and half of one, which
// overlaps with the last whole one.
func.func @main(%row: tensor<1000xf32>, %column: tensor<1000xf32>) -> tensor<1000x1000xf32> {
  %0 = stablehlo.broadcast_in_dim %row, dims = [1] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %1 = stablehlo.broadcast_in_dim %column, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %2 = stablehlo.add %0, %1 : tensor<1000x1000xf32>
  return %2 : tensor<1000x1000xf32>
}
// CHECK-LABEL: func.func @elementwise(%arg0: !stream.binding, %arg1: !stream.binding, %arg2: !stream.binding)
// CHECK:         memref.load
// CHECK:         arith.constant 984 : index
// CHECK:         arith.minsi
// CHECK:         vector.load {{.*}} vector<16xf32>
// CHECK:         vector.broadcast
// CHECK:         arith.addf
// CHECK:         vector.store
// CHECK:       func.func @main
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise::@elementwise(%arg0, %arg1)
// CHECK-NEXT:    return [[Y]]

// Rows of three elements are read as three vectors at a time. Every other row of the array is.
func.func @short(%x: tensor<4000x3xui8>, %mean: tensor<3xf32>) -> tensor<2000x3xf32> {
  %0 = stablehlo.slice %x [0:4000:2, 0:3] : (tensor<4000x3xui8>) -> tensor<2000x3xui8>
  %1 = stablehlo.convert %0 : (tensor<2000x3xui8>) -> tensor<2000x3xf32>
  %2 = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<3xf32>) -> tensor<2000x3xf32>
  %3 = stablehlo.subtract %1, %2 : tensor<2000x3xf32>
  return %3 : tensor<2000x3xf32>
}
// CHECK:       func.func @short
// CHECK:         [[X:%\w+]] = stablehlo.bitcast_convert %arg0
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise_1::@elementwise_1([[X]], %arg1)
// CHECK-NEXT:    return [[Y]]

// A transpose that keeps the last dimension is a kernel of its own; one that does not is not.
func.func @transposes(%x: tensor<64x100x48xf64>, %y: tensor<100x100xf32>) -> (tensor<100x64x48xf64>, tensor<100x100xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<64x100x48xf64>) -> tensor<100x64x48xf64>
  %1 = stablehlo.transpose %y, dims = [1, 0] : (tensor<100x100xf32>) -> tensor<100x100xf32>
  return %0, %1 : tensor<100x64x48xf64>, tensor<100x100xf32>
}
// CHECK:       func.func @transposes
// CHECK-NEXT:    [[Y:%\w+]] = stablehlo.transpose %arg1
// CHECK-NEXT:    [[X:%\w+]] = flow.dispatch @elementwise_2::@elementwise_2(%arg0)
// CHECK-NEXT:    return [[X]], [[Y]]

// Arrays that are read in their own order stay as they are, and so do few elements.
func.func @plain(%x: tensor<8192xf32>, %y: tensor<10xf32>) -> (tensor<8192xf32>, tensor<10x10xf32>) {
  %0 = stablehlo.add %x, %x : tensor<8192xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  return %0, %1 : tensor<8192xf32>, tensor<10x10xf32>
}
// CHECK:       func.func @plain
// CHECK-NEXT:    stablehlo.add
// CHECK-NEXT:    stablehlo.broadcast_in_dim
// CHECK-NEXT:    return

// Results that share operations are a kernel, which stores nothing else.
func.func @several(%x: tensor<8192xf32>) -> (tensor<8192xf32>, tensor<8192xf32>) {
  %0 = stablehlo.abs %x : tensor<8192xf32>
  %1 = stablehlo.sqrt %0 : tensor<8192xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8192xf32>
  return %1, %2 : tensor<8192xf32>, tensor<8192xf32>
}
// CHECK:       func.func @several
// CHECK-NEXT:    [[XY:%\w+]]:2 = flow.dispatch @{{.*}}(%arg0) : (tensor<8192xf32>) -> (tensor<8192xf32>, tensor<8192xf32>)
// CHECK-NEXT:    return [[XY]]#0, [[XY]]#1

// A reversal is read in its place, or copied if no kernel does that.
func.func @reversals(%x: tensor<100x100xf32>) -> (tensor<100x100xf32>, tensor<100xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reverse %x, dims = [0] : tensor<100x100xf32>
  %1 = stablehlo.multiply %0, %x : tensor<100x100xf32>
  %2 = stablehlo.reverse %x, dims = [1] : tensor<100x100xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
  return %1, %3 : tensor<100x100xf32>, tensor<100xf32>
}
// CHECK:       func.func @reversals
// CHECK:         [[C:%\w+]] = flow.dispatch @copy_{{.*}}(%arg0)
// CHECK-NEXT:    stablehlo.reduce([[C]]
// CHECK-NEXT:    flow.dispatch @elementwise{{.*}}(%arg0)

// Blocks of rows change places. Their reshape back takes a copy of them.
func.func @shuffled(%x: tensor<8x32x32x64xf32>) -> tensor<8x64x64x16xf32> {
  %0 = stablehlo.reshape %x : (tensor<8x32x32x64xf32>) -> tensor<8x32x32x2x32xf32>
  %1 = stablehlo.transpose %0, dims = [0, 1, 3, 2, 4] : (tensor<8x32x32x2x32xf32>) -> tensor<8x32x2x32x32xf32>
  %2 = stablehlo.reshape %1 : (tensor<8x32x2x32x32xf32>) -> tensor<8x64x64x16xf32>
  return %2 : tensor<8x64x64x16xf32>
}
// CHECK:       func.func @shuffled
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise{{.*}}(%arg0) : (tensor<8x32x32x64xf32>) -> tensor<8x32x2x32x32xf32>
// CHECK-NEXT:    stablehlo.reshape [[Y]]

// A view that only the kernel of an inner block reads is no kernel.
func.func @inner(%x: tensor<90000xf32>) -> tensor<1x30000xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 2 : index
  %init = stablehlo.constant dense<0.0> : tensor<1x30000xf32>
  %0 = stablehlo.slice %x [0:90000:3] : (tensor<90000xf32>) -> tensor<30000xf32>
  %1 = scf.for %i = %zero to %n step %one iter_args(%c = %init) -> (tensor<1x30000xf32>) {
    %2 = stablehlo.reshape %0 : (tensor<30000xf32>) -> tensor<1x30000xf32>
    %3 = util.optimization_barrier %2 : tensor<1x30000xf32>
    scf.yield %3 : tensor<1x30000xf32>
  }
  return %1 : tensor<1x30000xf32>
}
// CHECK:       func.func @inner
// CHECK:         scf.for
// CHECK-NEXT:      flow.dispatch {{.*}}(%arg0) : (tensor<90000xf32>) -> tensor<1x30000xf32>
