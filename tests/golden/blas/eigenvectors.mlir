// The eigenvectors of a large matrix are found by three routines of LAPACK's. The matrix, which these
// write over, may be in the operand's memory; its scratch memory is too much for a stack.
// RUN: --pipeline "blas{workers=2 always=true}"
// CHECK: stream.executable private @eigh
// CHECK-DAG: func.func private @scipy_LAPACKE_sormtr_work64_
// CHECK-DAG: func.func private @scipy_LAPACKE_sstedc_work64_
// CHECK-DAG: func.func private @scipy_LAPACKE_ssytrd_work64_
// CHECK: func.func @eigh({{.*}}) attributes {in_place = array<i64: 3, 0>
func.func @main(%x: tensor<300x300xf32>) -> (tensor<300x300xf32>, tensor<300xf32>) {
  // CHECK: func.func @main
  // CHECK: flow.dispatch @eigh::@eigh(%arg0) : (tensor<300x300xf32>) -> (tensor<300x300xf32>, tensor<300xf32>, tensor<300x300xf32>, tensor<1x1216xi8>, tensor<1x1216xi8>, tensor<1x364864xi8>, tensor<1x12032xi8>, tensor<1x4096xi8>)
  %0:2 = stablehlo.custom_call @irax_host.eigh(%x) {api_version = 4 : i32, backend_config = {vectors = 1 : i64}} : (tensor<300x300xf32>) -> (tensor<300x300xf32>, tensor<300xf32>)
  return %0#0, %0#1 : tensor<300x300xf32>, tensor<300xf32>
}
