// Forward mode of dot_general: it is linear in each operand, so the product rule holds.

// d (x y) = dx y + x dy
// RUN: --pipeline "jvp{func=matmul}"
func.func @matmul(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// CHECK:      func.func @matmul.jvp([[X:%\w+]]: tensor<2x3xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<3x4xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<2x3xf32>,
// CHECK-SAME:   [[DY:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[Y]], contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:   [[DOT_2:%\w+]] = stablehlo.dot_general [[DX]], [[Y]], contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:   [[DOT_3:%\w+]] = stablehlo.dot_general [[X]], [[DY]], contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:   [[ADD:%\w+]] = stablehlo.add [[DOT_2]], [[DOT_3]] : tensor<2x4xf32>
// CHECK-NEXT:   return [[DOT]], [[ADD]] : tensor<2x4xf32>, tensor<2x4xf32>

// With x constant: d (x y) = x dy
// RUN: --pipeline "jvp{func=one wrt=1}"
func.func @one(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// CHECK:      func.func @one.jvp([[X:%\w+]]: tensor<2x3xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<3x4xf32>,
// CHECK-SAME:   [[DY:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[Y]], contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:   [[DOT_2:%\w+]] = stablehlo.dot_general [[X]], [[DY]], contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:   return [[DOT]], [[DOT_2]] : tensor<2x4xf32>, tensor<2x4xf32>
