// A reduction begins behind what computes its array, and is awaited before what uses its result.
// RUN: --pipeline "overlap-collectives{small=0 least=1}"
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {irax.mesh = "data=2"} {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  %1 = stablehlo.sine %0 : tensor<4xf32>
  %2 = stablehlo.custom_call @irax_host.permute(%x) {api_version = 4 : i32, backend_config = {sources = "1,0", groups = "0,1"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.constant dense<2.0> : tensor<4xf32>
  %4 = stablehlo.multiply %0, %3 : tensor<4xf32>
  %5 = stablehlo.custom_call @irax_host.all_reduce(%4) {api_version = 4 : i32, backend_config = {combiner = "add", groups = "0,1"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = stablehlo.negate %5 : tensor<4xf32>
  %7 = stablehlo.custom_call @irax_host.all_reduce(%1) {api_version = 4 : i32, backend_config = {combiner = "add", groups = "0,1"}, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  %8 = stablehlo.tanh %2 : tensor<4xf32>
  return %6, %7, %8 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK:      [[COSINE:%\w+]] = stablehlo.cosine %arg0
// CHECK:      [[SINE:%\w+]] = stablehlo.sine [[COSINE]]
// CHECK:      [[FIRST:%\w+]] = stablehlo.custom_call @irax_host.begin([[SINE]])
// CHECK-SAME:   {collective = "all_reduce", combiner = "add", groups = "0,1"}
// CHECK-SAME:   -> tensor<i32>
// CHECK:      [[TWO:%\w+]] = stablehlo.constant dense<2.000000e+00>
// CHECK:      [[TWICE:%\w+]] = stablehlo.multiply [[COSINE]], [[TWO]]
// CHECK:      [[SECOND:%\w+]] = stablehlo.custom_call @irax_host.begin([[TWICE]])
// CHECK:      [[OTHER:%\w+]] = stablehlo.custom_call @irax_host.permute(%arg0)
// CHECK:      [[TANH:%\w+]] = stablehlo.tanh [[OTHER]]
// CHECK:      [[SUM:%\w+]] = stablehlo.custom_call @irax_host.await([[SECOND]], [[TWICE]])
// CHECK:      [[NEGATIVE:%\w+]] = stablehlo.negate [[SUM]]
// CHECK:      [[TOTAL:%\w+]] = stablehlo.custom_call @irax_host.await([[FIRST]], [[SINE]])
// CHECK:      return [[NEGATIVE]], [[TOTAL]], [[TANH]]
