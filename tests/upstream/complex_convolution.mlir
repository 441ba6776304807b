// IREE's compiler crashes on complex convolutions, or gets them wrong.
// EXPECT: crashes
// INPUT: [1+2j, 3-1j, 2.0]
// INPUT: [2-1j, 0.5j]
func.func @main(%x: tensor<1x4x4x2xcomplex<f32>>, %y: tensor<3x3x2x2xcomplex<f32>>) -> tensor<1x4x4x2xcomplex<f32>> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xcomplex<f32>>, tensor<3x3x2x2xcomplex<f32>>) -> tensor<1x4x4x2xcomplex<f32>>
  return %0 : tensor<1x4x4x2xcomplex<f32>>
}
