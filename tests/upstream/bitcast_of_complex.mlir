// Compilers crash on the bits of complex numbers.
// TARGETS: iree-cpu, pjrt
// EXPECT: crashes
// INPUT: [1+2j]
func.func @main(%x: tensor<2x2xcomplex<f32>>) -> tensor<2xcomplex<f64>> {
  %0 = stablehlo.bitcast_convert %x : (tensor<2x2xcomplex<f32>>) -> tensor<2xcomplex<f64>>
  return %0 : tensor<2xcomplex<f64>>
}
