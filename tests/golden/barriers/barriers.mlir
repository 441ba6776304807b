// RUN: --pipeline "barriers"

// In a loop, where IREE does not await what is carried; what a loop's branches do is in the loop.
func.func @main(%a: tensor<4xf32>, %w: tensor<2xui32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<2xui32>) {
  %b = stablehlo.optimization_barrier %a : tensor<4xf32>
  %0:2 = stablehlo.while(%x = %b, %y = %w) : tensor<4xf32>, tensor<2xui32>
  cond {
    %k = stablehlo.constant dense<false> : tensor<i1>
    %1 = stablehlo.optimization_barrier %k : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = stablehlo.optimization_barrier %x, %y : tensor<4xf32>, tensor<2xui32>
    %2 = "stablehlo.if"(%p) ({
      %3 = stablehlo.optimization_barrier %x : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }, {
      stablehlo.return %1#0 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %2, %1#1 : tensor<4xf32>, tensor<2xui32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<2xui32>
}
// CHECK:         [[B:%\w+]] = stablehlo.optimization_barrier %arg0
// CHECK-NEXT:    stablehlo.while([[X:%\w+]] = [[B]], [[Y:%\w+]] = %arg1)
// A constant stays hidden.
// CHECK:           stablehlo.optimization_barrier {{%\w+}} : tensor<i1>
// CHECK:         do {
// CHECK-NEXT:      [[XB:%\w+]] = iree_tensor_ext.compute_barrier.start [[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:      [[S:%\w+]] = stablehlo.bitcast_convert [[Y]] : (tensor<2xui32>) -> tensor<2xi32>
// CHECK-NEXT:      [[SB:%\w+]] = iree_tensor_ext.compute_barrier.start [[S]] : tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:      [[YB:%\w+]] = stablehlo.bitcast_convert [[SB]] : (tensor<2xi32>) -> tensor<2xui32>
// CHECK-NEXT:      [[R:%\w+]] = "stablehlo.if"
// CHECK-NEXT:        [[T:%\w+]] = iree_tensor_ext.compute_barrier.start [[X]]
// CHECK-NEXT:        stablehlo.return [[T]]
// CHECK:             stablehlo.return [[XB]]
// CHECK:           stablehlo.return [[R]], [[YB]]
