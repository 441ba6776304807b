// Composites become calls of what they are made of, wherever they are.
// RUN: --pipeline "decompose"
func.func private @inner(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "a.inner" %x {decomposition = @inner} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "a.outer" %x {decomposition = @outer} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK:      func.func private @outer
// CHECK-NEXT:   call @inner
// CHECK:      func.func @main
// CHECK-NEXT:   call @outer
// CHECK-NOT:    composite
