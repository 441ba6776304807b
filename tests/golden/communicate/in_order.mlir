// Programs with the same bits on any processes add arrays in the order of the devices.
// RUN: --pipeline "communicate"
func.func @main(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>) attributes {irax.mesh = "data=3", irax.deterministic = "batch"} {
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 3 : i64, combiner = "add"}, has_side_effect = false} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.custom_call @irax.reduce_scatter(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 3 : i64, dimension = 0 : i64}, has_side_effect = false} : (tensor<3x4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<4xf32>
}
// CHECK:      stablehlo.custom_call @irax_host.all_reduce(%arg0)
// CHECK-SAME:   {combiner = "add", groups = "0,1,2", in_order = "yes"}
// CHECK:      stablehlo.custom_call @irax_host.reduce_scatter(%arg0)
// CHECK-SAME:   {dimension = 0 : i64, groups = "0,1,2", in_order = "yes"}
