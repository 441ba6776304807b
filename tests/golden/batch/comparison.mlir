// Batching of comparing and choosing.

// RUN: --pipeline "batch{func=compare size=3}"
func.func @compare(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %p = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %p : tensor<4xi1>
}
// CHECK:      func.func @compare.batch([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare LT, [[X]], [[Y]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT:   return [[COMPARE]] : tensor<3x4xi1>

// A scalar predicate for each lane is stretched over the lane's elements
// RUN: --pipeline "batch{func=select size=3}"
func.func @select(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.select %p, %x, %y : tensor<i1>, tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @select.batch([[P:%\w+]]: tensor<3xi1>,
// CHECK-SAME:   [[X:%\w+]]: tensor<3x4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[P]], dims = [0] : (tensor<3xi1>) -> tensor<3x4xi1>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[BROADCAST]], [[X]], [[Y]] : tensor<3x4xi1>, tensor<3x4xf32>
// CHECK-NEXT:   return [[SELECT]] : tensor<3x4xf32>

// Bounds shared by all lanes stay scalars
// RUN: --pipeline "batch{func=clamp size=3 in_axes=None,0,None}"
func.func @clamp(%l: tensor<f32>, %x: tensor<4xf32>, %h: tensor<f32>) -> tensor<4xf32> {
  %y = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @clamp.batch([[L:%\w+]]: tensor<f32>,
// CHECK-SAME:   [[X:%\w+]]: tensor<3x4xf32>,
// CHECK-SAME:   [[H:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[CLAMP:%\w+]] = stablehlo.clamp [[L]], [[X]], [[H]] : (tensor<f32>, tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT:   return [[CLAMP]] : tensor<3x4xf32>
