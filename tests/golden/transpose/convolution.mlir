// Transposes of convolution: convolutions again, with operands, result and numbers in other roles.

// With respect to the array: stride and dilation change places, the kernel goes backwards and its
// features are exchanged, by name alone
// RUN: --pipeline "transpose{func=lhs wrt=0}"
func.func @lhs(%x: tensor<2x9x3xf32>, %y: tensor<3x3x4xf32>) -> tensor<2x4x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 0]]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x9x3xf32>, tensor<3x3x4xf32>) -> tensor<2x4x4xf32>
  return %z : tensor<2x4x4xf32>
}
// CHECK:      func.func @lhs.transpose([[Y:%\w+]]: tensor<3x3x4xf32>, [[CT:%\w+]]: tensor<2x4x4xf32>)
// CHECK-NEXT:   [[DX:%\w+]] = stablehlo.convolution([[CT]], [[Y]]) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {stride = [1], pad = {{\[\[}}1, 3]], lhs_dilate = [2], rhs_dilate = [1], reverse = [true]}
// CHECK-NEXT:   return [[DX]] : tensor<2x9x3xf32>

// With respect to the kernel: the cotangent is the kernel, the batch what is summed over; stride and
// the dilation of windows change places. What no window reached is cut away
// RUN: --pipeline "transpose{func=rhs wrt=1}"
func.func @rhs(%x: tensor<2x9x3xf32>, %y: tensor<3x3x4xf32>) -> tensor<2x4x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 0]]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x9x3xf32>, tensor<3x3x4xf32>) -> tensor<2x4x4xf32>
  return %z : tensor<2x4x4xf32>
}
// CHECK:      func.func @rhs.transpose([[X:%\w+]]: tensor<2x9x3xf32>, [[CT:%\w+]]: tensor<2x4x4xf32>)
// CHECK-NEXT:   [[DY:%\w+]] = stablehlo.convolution([[X]], [[CT]]) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {stride = [1], pad = {{\[\[}}1, -1]], lhs_dilate = [1], rhs_dilate = [2], reverse = [false]}
// CHECK-NEXT:   return [[DY]] : tensor<3x3x4xf32>

// Groups of features: the kernel's groups move from its output to its input features
// RUN: --pipeline "transpose{func=lhs_of_groups wrt=0}"
func.func @lhs_of_groups(%x: tensor<2x6x5xf32>, %y: tensor<4x3x2xf32>) -> tensor<2x4x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1]}
    {feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<2x6x5xf32>, tensor<4x3x2xf32>) -> tensor<2x4x4xf32>
  return %z : tensor<2x4x4xf32>
}
// CHECK:      func.func @lhs_of_groups.transpose([[Y:%\w+]]: tensor<4x3x2xf32>, [[CT:%\w+]]: tensor<2x4x4xf32>)
// CHECK-NEXT:   [[SPLIT:%\w+]] = stablehlo.reshape [[Y]] : (tensor<4x3x2xf32>) -> tensor<2x2x3x2xf32>
// CHECK-NEXT:   [[MOVED:%\w+]] = stablehlo.transpose [[SPLIT]], dims = [1, 0, 2, 3]
// CHECK-NEXT:   [[KERNEL:%\w+]] = stablehlo.reshape [[MOVED]] : (tensor<2x2x3x2xf32>) -> tensor<2x6x2xf32>
// CHECK-NEXT:   [[DX:%\w+]] = stablehlo.convolution([[CT]], [[KERNEL]]) dim_numbers = [b, f, 0]x[i, o, 0]->[b, f, 0], {{.*}} feature_group_count = 2
// CHECK-NEXT:   return [[DX]] : tensor<2x6x5xf32>

// ... and with respect to the kernel they become groups of the batch
// RUN: --pipeline "transpose{func=rhs_of_groups wrt=1}"
func.func @rhs_of_groups(%x: tensor<2x6x5xf32>, %y: tensor<4x3x2xf32>) -> tensor<2x4x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1]}
    {feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<2x6x5xf32>, tensor<4x3x2xf32>) -> tensor<2x4x4xf32>
  return %z : tensor<2x4x4xf32>
}
// CHECK:      func.func @rhs_of_groups.transpose([[X:%\w+]]: tensor<2x6x5xf32>, [[CT:%\w+]]: tensor<2x4x4xf32>)
// CHECK-NEXT:   [[DY:%\w+]] = stablehlo.convolution([[X]], [[CT]]) dim_numbers = [f, b, 0]x[i, o, 0]->[f, b, 0], {{.*}} {batch_group_count = 2
// CHECK-NEXT:   return [[DY]] : tensor<4x3x2xf32>

// A kernel that is applied backwards gets its cotangent backwards
// RUN: --pipeline "transpose{func=rhs_reversed wrt=1}"
func.func @rhs_reversed(%x: tensor<2x3x5xf32>, %y: tensor<4x3x2xf32>) -> tensor<2x4x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], reverse = [true]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x5xf32>, tensor<4x3x2xf32>) -> tensor<2x4x4xf32>
  return %z : tensor<2x4x4xf32>
}
// CHECK:      func.func @rhs_reversed.transpose([[X:%\w+]]: tensor<2x3x5xf32>, [[CT:%\w+]]: tensor<2x4x4xf32>)
// CHECK-NEXT:   [[BACK:%\w+]] = stablehlo.convolution([[X]], [[CT]]) {{.*}} reverse = [false]}
// CHECK-NEXT:   [[DY:%\w+]] = stablehlo.reverse [[BACK]], dims = [2]
// CHECK-NEXT:   return [[DY]] : tensor<4x3x2xf32>
