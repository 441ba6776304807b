// Small arrays are summed together where the last of them was, and what depends on them comes later.
// RUN: --pipeline "combine-all-reduces{most=64}"
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4xf32>, %z: tensor<32xf32>) -> (tensor<2x3xf32>, tensor<4xf32>, tensor<32xf32>, tensor<f32>) attributes {irax.mesh = "data=2"} {
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.negate %0 : tensor<2x3xf32>
  %2 = stablehlo.custom_call @irax.all_reduce(%z) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<32xf32>) -> tensor<32xf32>
  %3 = stablehlo.cosine %y : tensor<4xf32>
  %4 = stablehlo.custom_call @irax.all_reduce(%3) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.slice %4 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %6 = stablehlo.reshape %5 : (tensor<1xf32>) -> tensor<f32>
  %7 = stablehlo.custom_call @irax.all_reduce(%6) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<f32>) -> tensor<f32>
  return %1, %4, %2, %7 : tensor<2x3xf32>, tensor<4xf32>, tensor<32xf32>, tensor<f32>
}
// CHECK:      [[LARGE:%\w+]] = stablehlo.custom_call @irax.all_reduce(%arg2)
// CHECK:      [[COSINE:%\w+]] = stablehlo.cosine %arg1
// CHECK:      [[FLAT:%\w+]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK:      [[BOTH:%\w+]] = stablehlo.concatenate [[FLAT]], [[COSINE]], dim = 0
// CHECK:      [[TOTAL:%\w+]] = stablehlo.custom_call @irax.all_reduce([[BOTH]])
// CHECK-SAME:   -> tensor<10xf32>
// CHECK:      [[FIRST:%\w+]] = stablehlo.slice [[TOTAL]] [0:6]
// CHECK:      [[ROWS:%\w+]] = stablehlo.reshape [[FIRST]] : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK:      [[SECOND:%\w+]] = stablehlo.slice [[TOTAL]] [6:10]
// CHECK:      [[NEGATIVE:%\w+]] = stablehlo.negate [[ROWS]]
// CHECK:      [[LATER:%\w+]] = stablehlo.custom_call @irax.all_reduce({{.*}}) {{.*}} : (tensor<f32>) -> tensor<f32>
// CHECK:      return [[NEGATIVE]], [[SECOND]], [[LARGE]], [[LATER]]
