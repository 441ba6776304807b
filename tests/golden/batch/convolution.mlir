// Batching of convolution: the mapped axis becomes part of a dimension that is there.

// Arrays: more of a batch
// RUN: --pipeline "batch{func=lhs size=5 in_axes=0,None}"
func.func @lhs(%x: tensor<2x6x3xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x5x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x6x3xf32>, tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
  return %z : tensor<2x5x4xf32>
}
// CHECK:      func.func @lhs.batch([[X:%\w+]]: tensor<5x2x6x3xf32>, [[Y:%\w+]]: tensor<2x3x4xf32>)
// CHECK-NEXT:   [[ALL:%\w+]] = stablehlo.reshape [[X]] : (tensor<5x2x6x3xf32>) -> tensor<10x6x3xf32>
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.convolution([[ALL]], [[Y]]) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.reshape [[Z]] : (tensor<10x5x4xf32>) -> tensor<5x2x5x4xf32>
// CHECK-NEXT:   return [[R]]

// Kernels: more output features
// RUN: --pipeline "batch{func=rhs size=5 in_axes=None,2}"
func.func @rhs(%x: tensor<2x6x3xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x5x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x6x3xf32>, tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
  return %z : tensor<2x5x4xf32>
}
// CHECK:      func.func @rhs.batch([[X:%\w+]]: tensor<2x6x3xf32>, [[Y:%\w+]]: tensor<2x3x5x4xf32>)
// CHECK-NEXT:   [[ALL:%\w+]] = stablehlo.reshape [[Y]] : (tensor<2x3x5x4xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.convolution([[X]], [[ALL]]) {{.*}} -> tensor<2x5x20xf32>
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.reshape [[Z]] : (tensor<2x5x20xf32>) -> tensor<2x5x5x4xf32>
// CHECK-NEXT:   stablehlo.transpose [[R]], dims = [2, 0, 1, 3]

// Both: groups of features
// RUN: --pipeline "batch{func=both size=5}"
func.func @both(%x: tensor<2x3x6xf32>, %y: tensor<4x3x2xf32>) -> tensor<2x4x5xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x6xf32>, tensor<4x3x2xf32>) -> tensor<2x4x5xf32>
  return %z : tensor<2x4x5xf32>
}
// CHECK:      func.func @both.batch([[X:%\w+]]: tensor<5x2x3x6xf32>, [[Y:%\w+]]: tensor<5x4x3x2xf32>)
// CHECK-NEXT:   [[MOVED:%\w+]] = stablehlo.transpose [[X]], dims = [1, 0, 2, 3]
// CHECK-NEXT:   [[ARRAYS:%\w+]] = stablehlo.reshape [[MOVED]] : (tensor<2x5x3x6xf32>) -> tensor<2x15x6xf32>
// CHECK-NEXT:   [[KERNELS:%\w+]] = stablehlo.reshape [[Y]] : (tensor<5x4x3x2xf32>) -> tensor<20x3x2xf32>
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.convolution([[ARRAYS]], [[KERNELS]]) {{.*}} feature_group_count = 5 {{.*}} -> tensor<2x20x5xf32>
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.reshape [[Z]] : (tensor<2x20x5xf32>) -> tensor<2x5x4x5xf32>
// CHECK-NEXT:   stablehlo.transpose [[R]], dims = [1, 0, 2, 3]

// ... or of the batch, where it has groups already
// RUN: --pipeline "batch{func=both_groups size=5}"
func.func @both_groups(%x: tensor<4x3x6xf32>, %y: tensor<4x3x2xf32>) -> tensor<2x4x5xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1]}
    {feature_group_count = 1 : i64, batch_group_count = 2 : i64} : (tensor<4x3x6xf32>, tensor<4x3x2xf32>) -> tensor<2x4x5xf32>
  return %z : tensor<2x4x5xf32>
}
// CHECK:      func.func @both_groups.batch([[X:%\w+]]: tensor<5x4x3x6xf32>, [[Y:%\w+]]: tensor<5x4x3x2xf32>)
// CHECK-NEXT:   [[ARRAYS:%\w+]] = stablehlo.reshape [[X]] : (tensor<5x4x3x6xf32>) -> tensor<20x3x6xf32>
// CHECK-NEXT:   [[KERNELS:%\w+]] = stablehlo.reshape [[Y]] : (tensor<5x4x3x2xf32>) -> tensor<20x3x2xf32>
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.convolution([[ARRAYS]], [[KERNELS]]) {{.*}} {batch_group_count = 10
