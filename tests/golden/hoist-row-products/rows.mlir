// RUN: --pipeline "hoist-row-products"

// A loop that multiplies each row of an array by a matrix reads the rows of one product.
func.func @main(%xs: tensor<9x2x3xf32>, %w: tensor<3x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<2x4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, %zero, sizes = [1, 2, 3] : (tensor<9x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
    %x = stablehlo.reshape %row : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %t = stablehlo.add %y, %z : tensor<2x4xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<2x4xf32>
  }
  return %0#1 : tensor<2x4xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    [[XS:%\w+]]: tensor<9x2x3xf32>, [[W:%\w+]]: tensor<3x4xf32>
// CHECK:       [[ALL:%\w+]] = stablehlo.dot_general [[XS]], [[W]], contracting_dims = [2] x [0]
// CHECK:       stablehlo.while([[I:%\w+]] =
// CHECK:         [[ROW:%\w+]] = stablehlo.dynamic_slice [[ALL]], [[I]], {{.*}} sizes = [1, 2, 4]
// CHECK:         [[Z:%\w+]] = stablehlo.reshape [[ROW]] : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
// CHECK:         stablehlo.add {{%\w+}}, [[Z]]

// The rows of the product of a matrix and each row stay where that has them.
func.func @second(%xs: tensor<9x3x2xf32>, %w: tensor<4x3xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<4x2xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, %zero, sizes = [1, 3, 2] : (tensor<9x3x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf32>
    %x = stablehlo.reshape %row : (tensor<1x3x2xf32>) -> tensor<3x2xf32>
    %z = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %t = stablehlo.add %y, %z : tensor<4x2xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<4x2xf32>
  }
  return %0#1 : tensor<4x2xf32>
}
// CHECK-LABEL: func.func @second(
// CHECK:       stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [1] {{.*}} -> tensor<4x9x2xf32>
// CHECK:         stablehlo.dynamic_slice {{.*}} sizes = [4, 1, 2]

// A product of a value that is computed in the loop stays.
func.func @computed(%w: tensor<4x4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.dot_general %y, %w, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @computed(
// CHECK:       stablehlo.while(
// CHECK:         stablehlo.dot_general
