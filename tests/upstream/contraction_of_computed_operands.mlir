// Some of what is multiplied IREE computes where it is multiplied, by several threads, which do not
// wait for each other.
// TARGETS: iree-vulkan
// EXPECT: right
// INPUT: [1.0]
// INPUT: [1.0]
func.func @main(%x: tensor<2x3xcomplex<f32>>, %y: tensor<3x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  return %0 : tensor<2x4xcomplex<f32>>
}
