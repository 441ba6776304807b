// Forward mode of convolution: it is linear in each operand, so the product rule holds.

// d (x * y) = dx * y + x * dy
// RUN: --pipeline "jvp{func=image}"
func.func @image(%x: tensor<2x5x6x3xf32>, %y: tensor<3x3x3x4xf32>) -> tensor<2x3x4x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x5x6x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x3x4x4xf32>
  return %z : tensor<2x3x4x4xf32>
}
// CHECK:      func.func @image.jvp([[X:%\w+]]: tensor<2x5x6x3xf32>, [[Y:%\w+]]: tensor<3x3x3x4xf32>, [[DX:%\w+]]: tensor<2x5x6x3xf32>, [[DY:%\w+]]: tensor<3x3x3x4xf32>)
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.convolution([[X]], [[Y]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// CHECK-NEXT:   [[LEFT:%\w+]] = stablehlo.convolution([[DX]], [[Y]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// CHECK-NEXT:   [[RIGHT:%\w+]] = stablehlo.convolution([[X]], [[DY]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// CHECK-NEXT:   [[SUM:%\w+]] = stablehlo.add [[LEFT]], [[RIGHT]]
// CHECK-NEXT:   return [[Z]], [[SUM]]

// Of a constant image: the convolution of the kernel's tangent
// RUN: --pipeline "jvp{func=kernel wrt=1}"
func.func @kernel(%x: tensor<2x5x6x3xf32>, %y: tensor<3x3x3x4xf32>) -> tensor<2x3x4x4xf32> {
  %z = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x5x6x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x3x4x4xf32>
  return %z : tensor<2x3x4x4xf32>
}
// CHECK:      func.func @kernel.jvp([[X:%\w+]]: tensor<2x5x6x3xf32>, [[Y:%\w+]]: tensor<3x3x3x4xf32>, [[DY:%\w+]]: tensor<3x3x3x4xf32>)
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.convolution([[X]], [[Y]])
// CHECK-NEXT:   [[DZ:%\w+]] = stablehlo.convolution([[X]], [[DY]])
// CHECK-NEXT:   return [[Z]], [[DZ]]
