// Calls and loops stay for what they do, though nobody needs what they return.
// RUN: --pipeline "prune"
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @acts(%x) : (tensor<f32>) -> tensor<f32>
  %1 = func.call @computes(%x) : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @irax.callback(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {key = "sin", kind = "pure", ordered = false, vmap_method = ""}} : (tensor<f32>) -> tensor<f32>
  return %x : tensor<f32>
}
func.func private @acts(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @inner(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @inner(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @irax.callback(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "count", kind = "io", ordered = false, vmap_method = ""}} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @computes(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK:      func.func @main([[X:%\w+]]
// CHECK-NEXT:   call @acts([[X]])
// CHECK-NEXT:   return
// CHECK:      func.func private @acts
// CHECK-NEXT:   call @inner
// CHECK:      func.func private @inner
// CHECK-NEXT:   stablehlo.custom_call @irax.callback
