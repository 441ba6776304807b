// RUN: --pipeline "legalize{target=iree-hip},canonicalize,cse"

func.func @sign_of_doubles(%x: tensor<7xf64>) -> tensor<7xf64> {
  %0 = stablehlo.sign %x : tensor<7xf64>
  return %0 : tensor<7xf64>
}
// CHECK-LABEL:   func.func @sign_of_doubles
// CHECK-NOT:     stablehlo.sign
// CHECK-COUNT-2: stablehlo.select
