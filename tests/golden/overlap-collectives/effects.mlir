// No call moves over an operation with effects, and with nothing to do in between it stays one call.
// RUN: --pipeline "overlap-collectives{small=0 least=1}"
func.func @main(%x: tensor<4xf32>, %token: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>) attributes {irax.mesh = "data=2"} {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  %1 = stablehlo.custom_call @irax_host.action(%token) {api_version = 4 : i32, backend_config = {key = "a"}, has_side_effect = true} : (tensor<i32>) -> tensor<i32>
  %2 = stablehlo.custom_call @irax_host.all_reduce(%0) {api_version = 4 : i32, backend_config = {combiner = "add", groups = "0,1"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.sine %x : tensor<4xf32>
  %4 = stablehlo.custom_call @irax_host.action(%1) {api_version = 4 : i32, backend_config = {key = "b"}, has_side_effect = true} : (tensor<i32>) -> tensor<i32>
  %5 = stablehlo.custom_call @irax_host.all_reduce(%3) {api_version = 4 : i32, backend_config = {combiner = "add", groups = "0,1"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %3, %5, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
}
// CHECK:      [[COSINE:%\w+]] = stablehlo.cosine %arg0
// CHECK:      [[A:%\w+]] = stablehlo.custom_call @irax_host.action(%arg1)
// CHECK:      [[TICKET:%\w+]] = stablehlo.custom_call @irax_host.begin([[COSINE]])
// CHECK:      [[SINE:%\w+]] = stablehlo.sine %arg0
// CHECK:      [[SUM:%\w+]] = stablehlo.custom_call @irax_host.await([[TICKET]], [[COSINE]])
// CHECK:      stablehlo.custom_call @irax_host.action([[A]])
// CHECK:      stablehlo.custom_call @irax_host.all_reduce([[SINE]])
