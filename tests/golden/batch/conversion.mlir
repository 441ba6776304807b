// Batching of changing dtype.

// RUN: --pipeline "batch{func=convert size=3}"
func.func @convert(%x: tensor<4xf32>) -> tensor<4xi32> {
  %y = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}
// CHECK:      func.func @convert.batch([[X:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[X]] : (tensor<3x4xf32>) -> tensor<3x4xi32>
// CHECK-NEXT:   return [[CONVERT]] : tensor<3x4xi32>
