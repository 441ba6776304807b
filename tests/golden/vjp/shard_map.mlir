// Residuals of the devices are stacked. With check_vma, cotangents are summed where the body begins
// to differ between devices; without, by the specs: of a result that all have, each has its part.
// RUN: --pipeline "vjp{func=checked},vjp{func=plain},inline,simplify,canonicalize,cse"
func.func private @f(%x: tensor<4xf32>, %w: tensor<f32>) -> tensor<f32> {
  %v = stablehlo.custom_call @irax.pvary(%w) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", size = 2 : i64}} : (tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %p = stablehlo.multiply %x, %b : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.custom_call @irax.all_reduce(%c) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", combiner = "add", size = 2 : i64, invariant = true}} : (tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func private @g(%x: tensor<4xf32>, %w: tensor<f32>) -> tensor<f32> {
  %b = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %p = stablehlo.multiply %x, %b : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.custom_call @irax.all_reduce(%c) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", combiner = "add", size = 2 : i64}} : (tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func @checked(%x: tensor<8xf32>, %w: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @irax.shard_map(%x, %w) {api_version = 4 : i32, has_side_effect = false, backend_config = {body = @f, mesh = ["i"], sizes = array<i64: 2>, manual = ["i"], in_specs = [[["i"]], []], out_specs = [[]], check_vma = true}} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @plain(%x: tensor<8xf32>, %w: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @irax.shard_map(%x, %w) {api_version = 4 : i32, has_side_effect = false, backend_config = {body = @g, mesh = ["i"], sizes = array<i64: 2>, manual = ["i"], in_specs = [[["i"]], []], out_specs = [[]], check_vma = false}} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK:      func.func private @f.lin.shard.transpose([[R:%\w+]]: tensor<1xf32>, [[X:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<f32>)
// CHECK:        [[V:%\w+]] = stablehlo.custom_call @irax.pvary([[CT]])
// CHECK:        stablehlo.broadcast_in_dim [[V]]
// CHECK:        [[OWN:%\w+]] = stablehlo.reduce
// CHECK:        stablehlo.custom_call @irax.all_reduce([[OWN]]) {{.*}} invariant = true
// CHECK:      func.func @checked.vjp([[X:%\w+]]: tensor<8xf32>, [[W:%\w+]]: tensor<f32>, [[CT:%\w+]]: tensor<f32>)
// CHECK:        [[F:%\w+]]:2 = stablehlo.custom_call @irax.shard_map([[X]], [[W]]) {{.*}}body = @f.fwd.shard{{.*}} out_specs = {{\[\[}}], {{\[\[}}"i"]]]
// CHECK:        stablehlo.custom_call @irax.shard_map([[F]]#1, [[X]], [[CT]]) {{.*}}body = @f.lin.shard.transpose
// CHECK:      func.func private @g.lin.shard.transpose.shard([[R:%\w+]]: tensor<f32>, [[X:%\w+]]: tensor<4xf32>, [[CT:%\w+]]: tensor<f32>)
// CHECK:        [[PART:%\w+]] = stablehlo.divide [[CT]]
// CHECK:        stablehlo.custom_call @irax.all_reduce([[PART]])
// CHECK:        [[OWN:%\w+]] = stablehlo.reduce
// CHECK:        stablehlo.custom_call @irax.all_reduce([[OWN]])
