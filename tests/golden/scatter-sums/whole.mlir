// A sum that is used whole, too, a small one, and one that is divided in two ways, stay as they are.
// RUN: --pipeline "scatter-sums{small=64}"
func.func @main(%x: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<8x2xf32>, tensor<2x2xf32>) attributes {irax.mesh = "data=2"} {
  %four = stablehlo.constant dense<4> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.custom_call @irax.axis_index() {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64}, has_side_effect = false} : () -> tensor<i32>
  %1 = stablehlo.multiply %0, %four : tensor<i32>
  %2 = stablehlo.multiply %0, %two : tensor<i32>
  %3 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.dynamic_slice %3, %1, %zero, sizes = [4, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  %5 = stablehlo.negate %x : tensor<8x4xf32>
  %6 = stablehlo.custom_call @irax.all_reduce(%5) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %7 = stablehlo.dynamic_slice %6, %1, %zero, sizes = [4, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  %8 = stablehlo.dynamic_slice %6, %zero, %2, sizes = [8, 2] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  %9 = stablehlo.custom_call @irax.all_reduce(%y) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %10 = stablehlo.dynamic_slice %9, %2, %zero, sizes = [2, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  return %3, %4, %7, %8, %10 : tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<8x2xf32>, tensor<2x2xf32>
}
// CHECK-NOT:  irax.reduce_scatter
// CHECK-COUNT-3: irax.all_reduce
