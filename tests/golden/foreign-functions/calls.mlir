// A C function is a static import of a dispatch, and gets pointers, numbers of dimensions and
// lengths. One with a side effect hands its token on in the token's own memory.
// RUN: --pipeline "foreign-functions"
// CHECK-DAG: stream.executable private @c_function {
// CHECK-DAG: func.func private @norm(i64, i64, i64, i64, i64, i64, f64) attributes {hal.import.static, llvm.bareptr = true}
// CHECK-DAG: func.func private @push(i64, i64, i64, i64, i64) attributes {hal.import.static, llvm.bareptr = true}
func.func @main(%x: tensor<2x3xf32>, %token: tensor<i32>) -> tensor<2xf32> {
  // CHECK: func.func @main
  // CHECK-SAME: irax.functions = "{{\[\[}}\22/lib/libnorm.so\22, \22norm\22], [\22process 1\22, \22push\22]]"
  // CHECK: [[Y:%\w+]] = flow.dispatch @c_function::@c_function(%arg0) : (tensor<2x3xf32>) -> tensor<2xf32>
  %0 = stablehlo.custom_call @irax_host.c_function(%x) {api_version = 4 : i32, backend_config = {library = "/lib/libnorm.so", symbol = "norm", parameters = "[[\22p\22, \22float64\22, 2.0]]"}, has_side_effect = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK: flow.dispatch @[[PUSH:\w+]]::@[[PUSH]]([[Y]], %arg1) : (tensor<2xf32>, tensor<i32>) -> %arg1
  %1 = stablehlo.custom_call @irax_host.c_action(%0, %token) {api_version = 4 : i32, backend_config = {library = "process 1", symbol = "push", parameters = "[[\22axes\22, \22int64\22, [1, 2]]]"}, has_side_effect = true} : (tensor<2xf32>, tensor<i32>) -> tensor<i32>
  stablehlo.custom_call @irax_host.end(%1) {api_version = 4 : i32, backend_config = {}, has_side_effect = true} : (tensor<i32>) -> ()
  return %0 : tensor<2xf32>
}
