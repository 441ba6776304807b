// Effects go with the forward part, once.
// RUN: --pipeline "linearize"
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  stablehlo.custom_call @irax.callback(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "look", kind = "debug", ordered = false, vmap_method = ""}} : (tensor<f32>) -> ()
  %0 = stablehlo.multiply %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK:      func.func @main.fwd([[X:%\w+]]
// CHECK:        stablehlo.custom_call @irax.callback([[X]])
// CHECK:      func.func @main.lin
// CHECK-NOT:    custom_call
