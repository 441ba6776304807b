// RUN: --pipeline "elementwise"

// Each value is written to its part of the concatenation: here to halves of rows of 64.
func.func @halves(%x: tensor<512x32xf32>, %y: tensor<512x32xf32>) -> tensor<512x64xf32> {
  %0 = stablehlo.add %x, %y : tensor<512x32xf32>
  %1 = stablehlo.subtract %x, %y : tensor<512x32xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<512x32xf32>, tensor<512x32xf32>) -> tensor<512x64xf32>
  return %2 : tensor<512x64xf32>
}
// CHECK-LABEL: func.func @elementwise(%arg0: !stream.binding, %arg1: !stream.binding, %arg2: !stream.binding)
// CHECK:         [[SUM:%\w+]] = arith.addf
// CHECK:         [[DIFFERENCE:%\w+]] = arith.subf
// CHECK:         vector.store [[SUM]]
// CHECK:         vector.store [[DIFFERENCE]]
// CHECK:       func.func @halves
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise::@elementwise(%arg0, %arg1)
// CHECK-NEXT:    return [[Y]]

// Columns are interleaved.
func.func @columns(%x: tensor<5000xf32>, %y: tensor<5000xf32>) -> tensor<5000x2xf32> {
  %0 = stablehlo.add %x, %y : tensor<5000xf32>
  %1 = stablehlo.negate %y : tensor<5000xf32>
  %2 = stablehlo.reshape %0 : (tensor<5000xf32>) -> tensor<5000x1xf32>
  %3 = stablehlo.reshape %1 : (tensor<5000xf32>) -> tensor<5000x1xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 1 : (tensor<5000x1xf32>, tensor<5000x1xf32>) -> tensor<5000x2xf32>
  return %4 : tensor<5000x2xf32>
}
// CHECK:       func.func @columns
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @elementwise_1::@elementwise_1(%arg0, %arg1)
// CHECK-NEXT:    return [[Y]]

// Arrays of other shapes, or that nothing computes, are copied.
func.func @arrays(%x: tensor<100x50xf32>, %y: tensor<100x60xf32>) -> tensor<100x110xf32> {
  %0 = stablehlo.negate %x : tensor<100x50xf32>
  %1 = stablehlo.concatenate %0, %y, dim = 1 : (tensor<100x50xf32>, tensor<100x60xf32>) -> tensor<100x110xf32>
  return %1 : tensor<100x110xf32>
}
// CHECK:       func.func @arrays
// CHECK-NEXT:    [[X:%\w+]] = stablehlo.negate %arg0
// CHECK-NEXT:    [[Y:%\w+]] = flow.dispatch @copy_{{.*}}([[X]], %arg1)
// CHECK-NEXT:    return [[Y]]
