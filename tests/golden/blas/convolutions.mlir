// Windows are copied to a matrix, a further result, and multiplied; windows of one element are
// products at once.
// RUN: --pipeline "blas{workers=2 always=true}"
// CHECK-DAG: stream.executable private @convolution
// CHECK-DAG: func.func private @scipy_cblas_scopy64_
// CHECK-DAG: stream.executable private @product
func.func @main(%x: tensor<2x8x6x40xf32>, %y: tensor<3x3x40x50xf32>, %z: tensor<1x1x40x50xf32>, %g: tensor<3x3x20x50xf32>) -> (tensor<2x4x6x50xf32>, tensor<2x4x3x50xf32>, tensor<2x6x4x50xf32>) {
  // CHECK: func.func @main
  // CHECK: [[PADDED:%\w+]] = stablehlo.pad %arg0
  // CHECK: flow.dispatch @convolution::@convolution([[PADDED]], %arg1) : (tensor<2x10x8x40xf32>, tensor<3x3x40x50xf32>) -> (tensor<2x4x6x50xf32>, tensor<1x48x360xf32>)
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x6x40xf32>, tensor<3x3x40x50xf32>) -> tensor<2x4x6x50xf32>
  // CHECK: [[PART:%\w+]] = stablehlo.slice %arg0 [0:2, 0:7:2, 0:5:2, 0:40]
  // CHECK: [[ROWS:%\w+]] = stablehlo.reshape [[PART]]
  // CHECK: flow.dispatch @product::@product([[ROWS]], {{%\w+}}) : (tensor<24x40xf32>, tensor<40x50xf32>)
  %1 = stablehlo.convolution(%x, %z) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, -1], [0, -1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x6x40xf32>, tensor<1x1x40x50xf32>) -> tensor<2x4x3x50xf32>
  // CHECK: stablehlo.convolution
  %2 = stablehlo.convolution(%x, %g) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x8x6x40xf32>, tensor<3x3x20x50xf32>) -> tensor<2x6x4x50xf32>
  return %0, %1, %2 : tensor<2x4x6x50xf32>, tensor<2x4x3x50xf32>, tensor<2x6x4x50xf32>
}
