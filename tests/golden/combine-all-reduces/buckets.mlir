// Sums of more bytes than fit into one reduction: those that are computed first are reduced first.
// RUN: --pipeline "combine-all-reduces{bucket=32}"
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {irax.mesh = "data=2"} {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  %1 = stablehlo.sine %0 : tensor<4xf32>
  %2 = stablehlo.tanh %1 : tensor<4xf32>
  %3 = stablehlo.custom_call @irax.all_reduce(%2) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.custom_call @irax.all_reduce(%1) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.custom_call @irax.all_reduce(%0) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK:      [[COSINE:%\w+]] = stablehlo.cosine %arg0
// CHECK:      [[SINE:%\w+]] = stablehlo.sine [[COSINE]]
// CHECK:      [[TANH:%\w+]] = stablehlo.tanh [[SINE]]
// CHECK:      [[LAST:%\w+]] = stablehlo.custom_call @irax.all_reduce([[TANH]])
// CHECK:      [[BOTH:%\w+]] = stablehlo.concatenate [[COSINE]], [[SINE]], dim = 0
// CHECK:      [[TOTAL:%\w+]] = stablehlo.custom_call @irax.all_reduce([[BOTH]])
// CHECK:      [[FIRST:%\w+]] = stablehlo.slice [[TOTAL]] [0:4]
// CHECK:      [[SECOND:%\w+]] = stablehlo.slice [[TOTAL]] [4:8]
// CHECK:      return [[LAST]], [[SECOND]], [[FIRST]]
