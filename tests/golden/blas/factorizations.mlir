// Calls of host functions become dispatches that call LAPACK: transposed copies, the routine, and
// the pivots that are counted from one. A batch is shared by workgroups, with memory on the stack.
// RUN: --pipeline "blas{workers=2 always=true}"
// CHECK: stream.executable private @lu
// CHECK: stream.return %c2
// CHECK-DAG: func.func private @scipy_LAPACKE_dlaswp_work64_
// CHECK-DAG: func.func private @scipy_LAPACKE_dgetrf_work64_
// CHECK: memref.alloca() alignment = 64 : memref<28032xi8>
func.func @main(%x: tensor<40x50x70xf64>, %s: tensor<9x9xi32>) -> (tensor<40x50x70xf64>, tensor<40x50xi32>, tensor<40x50xi32>) {
  // CHECK: func.func @main
  // CHECK: [[NUMBERS:%\w+]] = stablehlo.iota dim = 1 : tensor<40x50xf64>
  // CHECK: [[LU:%\w+]]:3 = flow.dispatch @lu::@lu(%arg0, [[NUMBERS]])
  // CHECK: stablehlo.subtract [[LU]]#1
  %0:3 = stablehlo.custom_call @irax_host.lu(%x) {api_version = 4 : i32, backend_config = {}} : (tensor<40x50x70xf64>) -> (tensor<40x50x70xf64>, tensor<40x50xi32>, tensor<40x50xi32>)
  // CHECK: stablehlo.custom_call @irax_host.sort
  %1 = stablehlo.custom_call @irax_host.sort(%s) {api_version = 4 : i32, backend_config = {dimension = 0 : i64}} : (tensor<9x9xi32>) -> tensor<9x9xi32>
  return %0#0, %0#1, %0#2 : tensor<40x50x70xf64>, tensor<40x50xi32>, tensor<40x50xi32>
}
