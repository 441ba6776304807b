// Batching of dot_general.

// Both operands mapped: the axis is a batching dimension
// RUN: --pipeline "batch{func=both size=5}"
func.func @both(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// CHECK:      func.func @both.batch([[X:%\w+]]: tensor<5x2x3xf32>, [[Y:%\w+]]: tensor<5x3x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[Y]], batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<5x2x4xf32>

// One operand mapped: the axis is one more free dimension, and the other is not stretched. A batch of
// vectors times a matrix is a matrix product.
// RUN: --pipeline "batch{func=one size=5 in_axes=0,None}"
func.func @one(%x: tensor<3xf32>, %y: tensor<3x4xf32>) -> tensor<4xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
    : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @one.batch([[X:%\w+]]: tensor<5x3xf32>, [[Y:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[Y]], contracting_dims = [1] x [0] : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<5x4xf32>

// A matrix times each vector gives the axis last; that the user wants it first swaps the operands
// RUN: --pipeline "batch{func=swap size=5 in_axes=None,0},simplify"
func.func @swap(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
// CHECK:      func.func @swap.batch([[X:%\w+]]: tensor<2x3xf32>, [[Y:%\w+]]: tensor<5x3xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[Y]], [[X]], contracting_dims = [1] x [1] : (tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<5x2xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<5x2xf32>
