// IREE's compiler crashes where what uses a sum of complex numbers is done along with it.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: right
// INPUT: [1+1j]
func.func @main(%x: tensor<2x8xcomplex<f32>>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
