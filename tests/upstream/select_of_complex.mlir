// SPIR-V has no complex numbers to choose from.
// TARGETS: iree-vulkan
// EXPECT: refused
// INPUT: [True]
// INPUT: [1j]
// INPUT: [2j]
func.func @main(%p: tensor<2xi1>, %x: tensor<2xcomplex<f32>>, %y: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.select %p, %x, %y : tensor<2xi1>, tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
