// Custom calls of host functions become calls of imported ones, which the entry names.
// RUN: --pipeline "annotate,host"
func.func @main(%x: tensor<8xi32>) -> tensor<8xi32> {
  %0 = stablehlo.custom_call @irax_host.sort(%x) {api_version = 4 : i32, backend_config = {dimension = 0 : i64}} : (tensor<8xi32>) -> tensor<8xi32>
  %1 = stablehlo.custom_call @other.thing(%0) : (tensor<8xi32>) -> tensor<8xi32>
  return %1 : tensor<8xi32>
}
// CHECK:      func.func @main
// CHECK-SAME:   irax.host = "{{\[\[}}\22sort\22, {\22dimension\22: 0}, \22i32[8]\22, \22i32[8]\22]]"
// CHECK:        [[Y:%\w+]] = call @irax_host.f0(%arg0)
// CHECK:        stablehlo.custom_call @other.thing([[Y]])
// CHECK:      func.func private @irax_host.f0(tensor<8xi32>) -> tensor<8xi32>
