// Long sequences are images of one row, for which irax has code of its own on this processor. Short
// ones, and those with few features, are products of slices. Sequences and images of one feature are
// sums of multiples, whose factors are converted before.
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
func.func @signal(%x: tensor<2x1x100xf64>, %y: tensor<1x1x3xf64>) -> tensor<2x1x49xf64> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x1x100xf64>, tensor<1x1x3xf64>) -> tensor<2x1x49xf64>
  return %0 : tensor<2x1x49xf64>
}
func.func @image(%x: tensor<1x1x60x80xf32>, %y: tensor<1x1x2x3xf32>) -> tensor<1x1x59x80xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x60x80xf32>, tensor<1x1x2x3xf32>) -> tensor<1x1x59x80xf32>
  return %0 : tensor<1x1x59x80xf32>
}
func.func @narrow(%x: tensor<1x4x8x1xbf16>, %y: tensor<1x2x1x1xbf16>) -> tensor<1x4x4x1xbf16> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8x1xbf16>, tensor<1x2x1x1xbf16>) -> tensor<1x4x4x1xbf16>
  return %0 : tensor<1x4x4x1xbf16>
}
// CHECK-LABEL: func.func @long
// CHECK:         [[IMAGES:%\w+]] = stablehlo.reshape %arg0 : (tensor<4x256x32xf32>) -> tensor<4x1x256x32xf32>
// CHECK:         stablehlo.convolution([[IMAGES]]
// CHECK-NOT:     stablehlo.dot_general
// CHECK-LABEL: func.func @short
// CHECK-NOT:     stablehlo.convolution
// CHECK:         stablehlo.dot_general
// CHECK-LABEL: func.func @signal
// CHECK-NOT:     stablehlo.convolution
// CHECK:         [[FIRST:%\w+]] = stablehlo.slice {{.*}} [0:2, 0:97:2]
// CHECK:         stablehlo.multiply [[FIRST]]
// CHECK:         stablehlo.slice {{.*}} [0:2, 2:99:2]
// CHECK:         stablehlo.add
// CHECK-LABEL: func.func @image
// CHECK-NOT:     stablehlo.convolution
// CHECK-COUNT-6: stablehlo.multiply
// CHECK-LABEL: func.func @narrow
// CHECK:         [[WIDE:%\w+]] = stablehlo.convert %arg1
// CHECK:         stablehlo.optimization_barrier [[WIDE]]
// CHECK:         stablehlo.multiply
