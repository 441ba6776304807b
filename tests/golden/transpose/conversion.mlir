// The transpose of convert: back to the dtype that x has.

// RUN: --pipeline "transpose{func=widen wrt=0}"
func.func @widen(%x: tensor<4xbf16>) -> tensor<4xf32> {
  %y = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @widen.transpose([[CT:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[CT]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:   return [[CONVERT]] : tensor<4xbf16>
