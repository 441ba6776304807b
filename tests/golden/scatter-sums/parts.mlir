// Each device gets its part of a sum, and what is made of it element by element is made of parts.
// RUN: --pipeline "scatter-sums{small=64},cse"
func.func @main(%x: tensor<8x3xf32>, %w: tensor<8x3xf32>, %rate: tensor<f32>) -> tensor<2x3xf32> attributes {irax.mesh = "data=4"} {
  %cst = stablehlo.constant dense<5.000000e-01> : tensor<8x3xf32>
  %size = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 4 : i64, combiner = "add"}, has_side_effect = false} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %1 = stablehlo.multiply %0, %cst : tensor<8x3xf32>
  %2 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
  %3 = stablehlo.multiply %w, %2 : tensor<8x3xf32>
  %4 = stablehlo.add %1, %3 : tensor<8x3xf32>
  %5 = stablehlo.custom_call @irax.axis_index() {api_version = 4 : i32, backend_config = {axis = "data", size = 4 : i64}, has_side_effect = false} : () -> tensor<i32>
  %6 = stablehlo.multiply %5, %size : tensor<i32>
  %7 = stablehlo.dynamic_slice %4, %6, %zero, sizes = [2, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %7 : tensor<2x3xf32>
}
// CHECK:      [[ROWS:%\w+]] = stablehlo.reshape %arg0 : (tensor<8x3xf32>) -> tensor<4x2x3xf32>
// CHECK:      [[SUM:%\w+]] = stablehlo.custom_call @irax.reduce_scatter([[ROWS]])
// CHECK-SAME:   axis = "data", dimension = 0 : i64
// CHECK-SAME:   -> tensor<2x3xf32>
// CHECK:      [[HALF:%\w+]] = stablehlo.constant dense<5.000000e-01> : tensor<2x3xf32>
// CHECK:      [[SCALED:%\w+]] = stablehlo.multiply [[SUM]], [[HALF]] : tensor<2x3xf32>
// CHECK:      [[RATES:%\w+]] = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
// CHECK:      [[OWN:%\w+]] = stablehlo.dynamic_slice %arg1
// CHECK:      [[DECAY:%\w+]] = stablehlo.multiply [[OWN]], [[RATES]]
// CHECK:      [[RESULT:%\w+]] = stablehlo.add [[SCALED]], [[DECAY]]
// CHECK:      return [[RESULT]]
