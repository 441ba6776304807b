// RUN: --pipeline "convert-precision"

// Numbers stay narrow from one operation to the next, also where they are moved in between.
func.func @chain(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.tanh %1 : tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    [[X:%\w+]] = stablehlo.convert %arg0 : (tensor<4x2xf32>) -> tensor<4x2xbf16>
// CHECK-NEXT:    [[W:%\w+]] = stablehlo.convert %arg1 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
// CHECK-NEXT:    [[A:%\w+]] = stablehlo.dot_general [[X]], [[W]]{{.*}} -> tensor<4x3xbf16>
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.transpose [[A]], dims = [1, 0]
// CHECK-NEXT:    [[C:%\w+]] = stablehlo.tanh [[B]] : tensor<3x4xbf16>
// CHECK-NEXT:    [[D:%\w+]] = stablehlo.convert [[C]] : (tensor<3x4xbf16>) -> tensor<3x4xf32>
// CHECK-NEXT:    return [[D]]

// Its region is that of the type, too.
func.func @sum(%x: tensor<4xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @sum(
// CHECK:         stablehlo.reduce({{.*}}) applies stablehlo.add {{.*}} -> tensor<bf16>
