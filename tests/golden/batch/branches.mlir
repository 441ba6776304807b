// Batching of branches.

// Lanes choose: all go through both branches. Where a derivative of a branch may be infinite, its
// operands pass through irax.harmless.
// RUN: --pipeline "batch{func=root size=3 in_axes=0,0,None}"
func.func @root(%p: tensor<i1>, %x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %y = "stablehlo.if"(%p) ({
    %0 = stablehlo.sqrt %x : tensor<f32>
    %1 = stablehlo.multiply %0, %w : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    %0 = stablehlo.add %x, %w : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %y : tensor<f32>
}
// CHECK:      func.func @root.batch([[P:%\w+]]: tensor<3xi1>, [[X:%\w+]]: tensor<3xf32>, [[W:%\w+]]: tensor<f32>)
// CHECK-NEXT:   [[OPERANDS:%\w+]]:2 = stablehlo.composite "irax.harmless" [[P]], [[X]], [[W]]
// CHECK-SAME:     {depths = array<i64: 1, 0>, substitutes = false}
// CHECK-NEXT:   [[TRUE:%\w+]] = call @if.true.batch([[OPERANDS]]#0, [[OPERANDS]]#1)
// CHECK-NEXT:   [[FALSE:%\w+]] = call @if.false.batch([[X]], [[W]])
// CHECK-NEXT:   [[CHOSEN:%\w+]] = stablehlo.broadcast_in_dim [[P]], dims = [0]
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[CHOSEN]], [[TRUE]], [[FALSE]]
// CHECK-NEXT:   return [[SELECT]] : tensor<3xf32>
