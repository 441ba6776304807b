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

// So do custom calls that irax knows.
func.func @topk(%x: tensor<5xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {
    mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64
  } : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}
// CHECK:      func.func @topk
// CHECK-NEXT:   chlo.top_k(%arg0, k = 2)
