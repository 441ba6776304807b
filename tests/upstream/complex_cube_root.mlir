// IREE and XLA have no cube roots of complex numbers.
// TARGETS: iree-cpu, pjrt
// EXPECT: refused
// INPUT: [8+1j, -1+2j]
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.cbrt %x : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
