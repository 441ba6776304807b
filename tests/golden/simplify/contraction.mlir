// dot_general takes transposes into itself: of its operands by other numbers of the contracting and
// batching dimensions, and of its result by exchanging the operands. One whose sums have one term each
// is a product of elements.

// RUN: --pipeline "simplify"

// xᵀ y
func.func @dot_of_transpose.left(%x: tensor<3x2xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %a = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %z = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// CHECK:      func.func @dot_of_transpose.left([[X:%\w+]]: tensor<3x2xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[Y]], contracting_dims = [0] x [0] : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<2x4xf32>

// The batching dimension of y comes last
func.func @dot_of_transpose.right(%x: tensor<5x2x3xf32>, %y: tensor<3x4x5xf32>) -> tensor<5x2x4xf32> {
  %a = stablehlo.transpose %y, dims = [2, 0, 1] : (tensor<3x4x5xf32>) -> tensor<5x3x4xf32>
  %z = stablehlo.dot_general %x, %a, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %z : tensor<5x2x4xf32>
}
// CHECK:      func.func @dot_of_transpose.right([[X:%\w+]]: tensor<5x2x3xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<3x4x5xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[Y]], batching_dims = [0] x [2], contracting_dims = [2] x [0] : (tensor<5x2x3xf32>, tensor<3x4x5xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<5x2x4xf32>

// (x y)ᵀ is yᵀ xᵀ
func.func @transpose_of_dot(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<4x2xf32> {
  %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %z = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}
// CHECK:      func.func @transpose_of_dot([[X:%\w+]]: tensor<2x3xf32>, [[Y:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[Y]], [[X]], contracting_dims = [0] x [1] : (tensor<3x4xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<4x2xf32>

// Two batching dimensions change places, and so do the operands
func.func @transpose_of_dot.batch(%x: tensor<5x6x2x3xf32>, %y: tensor<6x3x5x4xf32>) -> tensor<6x5x4x2xf32> {
  %a = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [2, 0], contracting_dims = [3] x [1]
    : (tensor<5x6x2x3xf32>, tensor<6x3x5x4xf32>) -> tensor<5x6x2x4xf32>
  %z = stablehlo.transpose %a, dims = [1, 0, 3, 2] : (tensor<5x6x2x4xf32>) -> tensor<6x5x4x2xf32>
  return %z : tensor<6x5x4x2xf32>
}
// CHECK:      func.func @transpose_of_dot.batch([[X:%\w+]]: tensor<5x6x2x3xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<6x3x5x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[Y]], [[X]], batching_dims = [0, 2] x [1, 0], contracting_dims = [1] x [3] : (tensor<6x3x5x4xf32>, tensor<5x6x2x3xf32>) -> tensor<6x5x4x2xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<6x5x4x2xf32>

// The rows of x times those of y, for each matrix, which a sine uses
func.func @outer_product(%x: tensor<5x2xf32>, %y: tensor<4x5xf32>) -> tensor<5x2x4xf32> {
  %z = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [] x []
    : (tensor<5x2xf32>, tensor<4x5xf32>) -> tensor<5x2x4xf32>
  %w = stablehlo.sine %z : tensor<5x2x4xf32>
  return %w : tensor<5x2x4xf32>
}
// CHECK:      func.func @outer_product([[X:%\w+]]: tensor<5x2xf32>, [[Y:%\w+]]: tensor<4x5xf32>)
// CHECK-NEXT:   [[A:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [0, 1] : (tensor<5x2xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.broadcast_in_dim [[Y]], dims = [2, 0] : (tensor<4x5xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:   [[PRODUCT:%\w+]] = stablehlo.multiply [[A]], [[B]] : tensor<5x2x4xf32>
// CHECK-NEXT:   [[SINE:%\w+]] = stablehlo.sine [[PRODUCT]] : tensor<5x2x4xf32>
// CHECK-NEXT:   return [[SINE]] : tensor<5x2x4xf32>

// A dimension of one element, and a wider dtype of the result, which is reduced
func.func @outer_product.one(%x: tensor<2x1xi8>, %y: tensor<4x1xi8>) -> tensor<2xi32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<2x1xi8>, tensor<4x1xi8>) -> tensor<2x4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %w = stablehlo.reduce(%z init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xi32>, tensor<i32>) -> tensor<2xi32>
  return %w : tensor<2xi32>
}
// CHECK:      func.func @outer_product.one([[X:%\w+]]: tensor<2x1xi8>, [[Y:%\w+]]: tensor<4x1xi8>)
// CHECK:        [[A:%\w+]] = stablehlo.convert [[X]] : (tensor<2x1xi8>) -> tensor<2x1xi32>
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.reshape [[A]] : (tensor<2x1xi32>) -> tensor<2xi32>
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.broadcast_in_dim [[B]], dims = [0] : (tensor<2xi32>) -> tensor<2x4xi32>
// CHECK:        [[PRODUCT:%\w+]] = stablehlo.multiply [[C]], {{%\w+}} : tensor<2x4xi32>
// CHECK:        stablehlo.reduce([[PRODUCT]] init
