// One call for all lanes, or one for each, as the callback says.
// RUN: --pipeline "batch{func=at_once size=5 in_axes=1,None},batch{func=in_turn size=5 in_axes=0,None}"
func.func @at_once(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @irax.callback(%x, %y) {api_version = 4 : i32, has_side_effect = false, backend_config = {key = "add", kind = "pure", ordered = false, vmap_method = "expand_dims"}} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @in_turn(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<3xf32> {
  stablehlo.custom_call @irax.callback(%x, %y) {api_version = 4 : i32, has_side_effect = true, backend_config = {key = "look", kind = "debug", ordered = false, vmap_method = ""}} : (tensor<3xf32>, tensor<f32>) -> ()
  return %x : tensor<3xf32>
}
// CHECK:      func.func @at_once.batch([[X:%\w+]]: tensor<3x5xf32>, [[Y:%\w+]]: tensor<f32>)
// CHECK:        [[LANES:%\w+]] = stablehlo.transpose [[X]], dims = [1, 0]
// CHECK:        [[ONE:%\w+]] = stablehlo.reshape [[Y]] : (tensor<f32>) -> tensor<1xf32>
// CHECK:        stablehlo.custom_call @irax.callback([[LANES]], [[ONE]]) {{.*}} : (tensor<5x3xf32>, tensor<1xf32>) -> tensor<5x3xf32>
// CHECK:      func.func @in_turn.batch
// CHECK:        stablehlo.composite "irax.scan"
// CHECK:      func.func private @look.lane([[Y:%\w+]]: tensor<f32>, [[X:%\w+]]: tensor<3xf32>)
// CHECK:        stablehlo.custom_call @irax.callback([[X]], [[Y]])
