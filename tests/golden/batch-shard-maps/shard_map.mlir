// Each device's shards become a row of a batched body; what all devices have stays as it is.
// RUN: --pipeline "batch-shard-maps,inline,symbol-dce,cse"
func.func private @f(%x: tensor<4x3xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>, tensor<4xf32>, tensor<1xi32>) {
  %v = stablehlo.custom_call @irax.pvary(%w) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", size = 2 : i64}} : (tensor<3xf32>) -> tensor<3xf32>
  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %p = stablehlo.multiply %x, %b : tensor<4x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  %s = stablehlo.custom_call @irax.all_reduce(%c) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", combiner = "add", size = 2 : i64, invariant = true}} : (tensor<3xf32>) -> tensor<3xf32>
  %n = stablehlo.custom_call @irax.axis_index() {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", size = 2 : i64}} : () -> tensor<i32>
  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  return %s, %r, %m : tensor<3xf32>, tensor<4xf32>, tensor<1xi32>
}
func.func @main(%x: tensor<8x3xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>, tensor<8xf32>, tensor<2xi32>) {
  %0:3 = stablehlo.custom_call @irax.shard_map(%x, %w) {api_version = 4 : i32, has_side_effect = false, backend_config = {body = @f, mesh = ["i", "j"], sizes = array<i64: 2, 4>, manual = ["i"], in_specs = [[["i"], []], [[]]], out_specs = [[[]], [["i"]], [["i"]]], check_vma = true}} : (tensor<8x3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<8xf32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<3xf32>, tensor<8xf32>, tensor<2xi32>
}
// CHECK:      func.func @main([[X:%\w+]]: tensor<8x3xf32>, [[W:%\w+]]: tensor<3xf32>)
// CHECK:        [[SHARDS:%\w+]] = stablehlo.reshape [[X]] : (tensor<8x3xf32>) -> tensor<2x4x3xf32>
// CHECK:        [[P:%\w+]] = stablehlo.multiply [[SHARDS]], {{%\w+}} : tensor<2x4x3xf32>
// CHECK:        [[ALL:%\w+]] = stablehlo.reduce([[P]] {{.*}} dimensions = [1]
// CHECK:        [[R:%\w+]] = stablehlo.reduce([[P]] {{.*}} dimensions = [2]
// CHECK:        [[S:%\w+]] = stablehlo.reduce([[ALL]] {{.*}} dimensions = [0]
// CHECK:        stablehlo.iota dim = 0 : tensor<2xi32>
// CHECK:        stablehlo.reshape [[R]] : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-NOT:    irax.
