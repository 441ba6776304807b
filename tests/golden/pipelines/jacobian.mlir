// A Jacobian by reverse mode: the cotangents are the rows of the identity, mapped over. For a linear
// function, x w, it is wᵀ: nothing depends on x.

// RUN: --pipeline "vjp{func=main wrt=1},batch{func=main.vjp size=4 in_axes=None,None,0 out_axes=None,0},inline,simplify,canonicalize,cse,symbol-dce"
func.func @main(%w: tensor<3x4xf32>, %x: tensor<3xf32>) -> tensor<4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @main.vjp.batch([[W:%\w+]]: tensor<3x4xf32>,
// CHECK-SAME:   [[X:%\w+]]: tensor<3xf32>,
// CHECK-SAME:   [[CTS:%\w+]]: tensor<4x4xf32>)
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[X]], [[W]], contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   [[DOT_2:%\w+]] = stablehlo.dot_general [[CTS]], [[W]], contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:   return [[DOT]], [[DOT_2]] : tensor<4xf32>, tensor<4x3xf32>
