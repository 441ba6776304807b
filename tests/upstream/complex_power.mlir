// IREE's SPIR-V cannot choose from complex numbers, as its own expansion does.
// TARGETS: iree-vulkan
// EXPECT: refused
// INPUT: [0j, 2+1j]
// INPUT: [2.0, 0j]
func.func @main(%x: tensor<2xcomplex<f32>>, %y: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.power %x, %y : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
