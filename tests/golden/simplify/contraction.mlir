// dot_general takes transposes into itself: of its operands by other numbers of the contracting and
// batching dimensions, and of its result by exchanging the operands.

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
