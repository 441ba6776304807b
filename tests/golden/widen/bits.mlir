// RUN: --pipeline "widen"

// Two integers of 4 bits are a byte, the first the lower half.
func.func @joined(%x: tensor<3x2xi4>) -> tensor<3xi8> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3x2xi4>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}
// CHECK-LABEL: func.func @joined
// CHECK:         stablehlo.and
// CHECK:         [[PLACES:%\w+]] = stablehlo.iota dim = 1 : tensor<3x2xui8>
// CHECK:         [[SHIFTS:%\w+]] = stablehlo.multiply [[PLACES]]
// CHECK:         [[SHIFTED:%\w+]] = stablehlo.shift_left {{.*}}, [[SHIFTS]]
// CHECK:         stablehlo.reduce([[SHIFTED]]
// CHECK:         stablehlo.bitcast_convert {{.*}} : (tensor<3xui8>) -> tensor<3xi8>

func.func @parted(%x: tensor<3xbf16>) -> tensor<3x4xi8> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3xbf16>) -> tensor<3x4xui4>
  %1 = stablehlo.convert %0 : (tensor<3x4xui4>) -> tensor<3x4xi8>
  return %1 : tensor<3x4xi8>
}
// CHECK-LABEL: func.func @parted
// CHECK:         stablehlo.bitcast_convert {{.*}} : (tensor<3xbf16>) -> tensor<3xui16>
// CHECK:         stablehlo.shift_right_logical
// CHECK:         stablehlo.and
// CHECK-NOT:     ui4

func.func @renamed(%x: tensor<3xi8>) -> tensor<3xi8> {
  %0 = stablehlo.convert %x : (tensor<3xi8>) -> tensor<3xi4>
  %1 = stablehlo.bitcast_convert %0 : (tensor<3xi4>) -> tensor<3xui4>
  %2 = stablehlo.convert %1 : (tensor<3xui4>) -> tensor<3xi8>
  return %2 : tensor<3xi8>
}
// CHECK-LABEL: func.func @renamed
// CHECK-NOT:     bitcast
