// IREE has no SPIR-V for arrays of different complex numbers.
// TARGETS: iree-vulkan
// EXPECT: refused
// INPUT: [1.0]
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %c = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.add %x, %c : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
