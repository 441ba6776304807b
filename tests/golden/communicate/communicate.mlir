// Collectives over an axis of the mesh communicate within groups of devices along it.
// RUN: --pipeline "communicate"
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) attributes {irax.mesh = "data=3,model=2"} {
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 3 : i64, combiner = "add"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @irax.axis_index() {api_version = 4 : i32, backend_config = {axis = "data", size = 3 : i64}, has_side_effect = false} : () -> tensor<i32>
  return %0, %1 : tensor<4xf32>, tensor<i32>
}
// CHECK:      stablehlo.custom_call @irax_host.all_reduce(%arg0)
// CHECK-SAME:   {combiner = "add", groups = "0,2,4;1,3,5"}
// CHECK:      [[RANK:%\w+]] = stablehlo.custom_call @irax_host.rank()
// CHECK:      [[ROW:%\w+]] = stablehlo.divide [[RANK]], {{.*}}
// CHECK:      stablehlo.remainder [[ROW]], {{.*}}
