// Of a sum over another axis, the part is summed; a largest element has no such collective.
// RUN: --pipeline "scatter-sums{small=64},cse"
func.func @main(%x: tensor<8x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) attributes {irax.mesh = "data=2,model=2"} {
  %size = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %1 = stablehlo.custom_call @irax.all_reduce(%0) {api_version = 4 : i32, backend_config = {axis = "model", size = 2 : i64, combiner = "add"}, has_side_effect = false} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %2 = stablehlo.custom_call @irax.axis_index() {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64}, has_side_effect = false} : () -> tensor<i32>
  %3 = stablehlo.multiply %2, %size : tensor<i32>
  %4 = stablehlo.dynamic_slice %1, %3, %zero, sizes = [4, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %5 = stablehlo.custom_call @irax.all_reduce(%x) {api_version = 4 : i32, backend_config = {axis = "data", size = 2 : i64, combiner = "maximum"}, has_side_effect = false} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %6 = stablehlo.dynamic_slice %5, %3, %zero, sizes = [4, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  return %4, %6 : tensor<4x3xf32>, tensor<4x3xf32>
}
// CHECK:      [[PART:%\w+]] = stablehlo.custom_call @irax.reduce_scatter
// CHECK:      [[SUM:%\w+]] = stablehlo.custom_call @irax.all_reduce([[PART]])
// CHECK-SAME:   axis = "model"
// CHECK-SAME:   -> tensor<4x3xf32>
// CHECK:      [[LARGEST:%\w+]] = stablehlo.custom_call @irax.all_reduce(%arg0)
// CHECK-SAME:   combiner = "maximum"
// CHECK:      [[TAKEN:%\w+]] = stablehlo.dynamic_slice [[LARGEST]]
// CHECK:      return [[SUM]], [[TAKEN]]
