// RUN: --pipeline "annotate,split-large-signatures{most=5 bound=3}"

// A call of a function is a part of its own, and the function is inlined there.
func.func @called(%x0: tensor<4xf32>, %x1: tensor<4xf32>, %x2: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @callee(%x1) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @callee(%x0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.negate %x2 : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline, noinline} {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    -> tensor<4xf32> {
// CHECK-LABEL: func.func private @called.part(
// CHECK:         call @callee(
// CHECK-LABEL: func.func private @called.part_1(
// CHECK:         stablehlo.negate
// CHECK-LABEL: func.func @called(
// CHECK:         <[1, 0]>
// CHECK-NEXT:    call @called.part(
// CHECK:         <[0, 1]>
// CHECK-NEXT:    call @called.part(
// CHECK:         <2>
// CHECK-NEXT:    call @called.part_1(
