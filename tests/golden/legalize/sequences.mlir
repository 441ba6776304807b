// Long sequences are images of one row, for which irax has code of its own on this processor. Short
// ones, and those with few features, are products of slices.
// CHIP: x86-64-v4
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @long(%x: tensor<4x256x32xf32>, %y: tensor<5x32x64xf32>) -> tensor<4x252x64xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x256x32xf32>, tensor<5x32x64xf32>) -> tensor<4x252x64xf32>
  return %0 : tensor<4x252x64xf32>
}
func.func @short(%x: tensor<1x16x8xf32>, %y: tensor<5x8x8xf32>) -> tensor<1x12x8xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x8xf32>, tensor<5x8x8xf32>) -> tensor<1x12x8xf32>
  return %0 : tensor<1x12x8xf32>
}
// CHECK-LABEL: func.func @long
// CHECK:         [[IMAGES:%\w+]] = stablehlo.reshape %arg0 : (tensor<4x256x32xf32>) -> tensor<4x1x256x32xf32>
// CHECK:         stablehlo.convolution([[IMAGES]]
// CHECK-NOT:     stablehlo.dot_general
// CHECK-LABEL: func.func @short
// CHECK-NOT:     stablehlo.convolution
// CHECK:         stablehlo.dot_general
