// Over their own axis, collectives are reductions, transposes and gathers; those over others stay.
// RUN: --pipeline "batch{func=sum size=4 axis_name=i},batch{func=exchange size=4 axis_name=i},batch{func=sum size=5 axis_name=j}"
func.func @sum(%x: tensor<3xf32>, %y: tensor<f32>) -> (tensor<3xf32>, tensor<f32>, tensor<i32>) {
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", combiner = "add", size = 4 : i64}} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = func.call @total(%y) : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @irax.axis_index() {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", size = 4 : i64}} : () -> tensor<i32>
  return %0, %1, %2 : tensor<3xf32>, tensor<f32>, tensor<i32>
}
func.func private @total(%y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @irax.all_reduce(%y) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", combiner = "add", size = 4 : i64}} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @exchange(%x: tensor<4x3xf32>) -> (tensor<3x4xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.custom_call @irax.all_to_all(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", concat = 1 : i64, size = 4 : i64, split = 0 : i64}} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.custom_call @irax.permute(%x) {api_version = 4 : i32, has_side_effect = false, backend_config = {axis = "i", size = 4 : i64, sources = array<i64: -1, 0, 1, 2>}} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<4x3xf32>
}
// CHECK:      func.func @sum.batch([[X:%\w+]]: tensor<4x3xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK:        [[SUM:%\w+]] = stablehlo.reduce([[X]] init: {{%\w+}}) applies stablehlo.add across dimensions = [0]
// CHECK:        [[TOTAL:%\w+]] = call @total.batch([[Y]]) : (tensor<4xf32>) -> tensor<f32>
// CHECK:        [[NUMBER:%\w+]] = stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK:        stablehlo.broadcast_in_dim [[SUM]], dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
// CHECK:      func.func @exchange.batch([[X:%\w+]]: tensor<4x4x3xf32>)
// CHECK:        stablehlo.transpose
// CHECK:        [[ROWS:%\w+]] = stablehlo.constant dense<[4, 0, 1, 2]> : tensor<4xi32>
// CHECK:        "stablehlo.gather"({{%\w+}}, [[ROWS]])
// CHECK:      func.func @sum.batch_1([[X:%\w+]]: tensor<5x3xf32>, [[Y:%\w+]]: tensor<5xf32>)
// CHECK:        stablehlo.custom_call @irax.all_reduce([[X]]) {{.*}} : (tensor<5x3xf32>) -> tensor<5x3xf32>
