// Transposes of dot_general. No operand and no result is transposed on its own: the contracting
// dimensions and the order of the operands say it.

// z = x y: the cotangent of x is ct yᵀ
// RUN: --pipeline "transpose{func=left wrt=0}"
func.func @left(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// CHECK:      func.func @left.transpose([[Y:%\w+]]: tensor<3x4xf32>, [[CT:%\w+]]: tensor<2x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[CT]], [[Y]], contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<2x3xf32>

// ... and that of y is xᵀ ct
// RUN: --pipeline "transpose{func=right wrt=1}"
func.func @right(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// CHECK:      func.func @right.transpose([[X:%\w+]]: tensor<2x3xf32>, [[CT:%\w+]]: tensor<2x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[CT]], contracting_dims = [0] x [0] : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<3x4xf32>

// Matrix times vector: the cotangent of the matrix is the outer product of ct and the vector
// RUN: --pipeline "transpose{func=outer wrt=0}"
func.func @outer(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
// CHECK:      func.func @outer.transpose([[Y:%\w+]]: tensor<3xf32>, [[CT:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[CT]], [[Y]], contracting_dims = [] x [] : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<2x3xf32>

// Of a batch: matrix by matrix
// RUN: --pipeline "transpose{func=batch wrt=1}"
func.func @batch(%x: tensor<5x2x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %z = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %z : tensor<5x2x4xf32>
}
// CHECK:      func.func @batch.transpose([[X:%\w+]]: tensor<5x2x3xf32>,
// CHECK-SAME:   [[CT:%\w+]]: tensor<5x2x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[CT]], batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<5x2x3xf32>, tensor<5x2x4xf32>) -> tensor<5x3x4xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<5x3x4xf32>
