// IREE crashes on windows of complex numbers.
// TARGETS: iree-vulkan
// EXPECT: crashes
// INPUT: [1+1j]
func.func @main(%x: tensor<70xcomplex<f32>>) -> tensor<70xcomplex<f32>> {
  %c = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[69, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 70>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %1 : tensor<complex<f32>>
  }) : (tensor<70xcomplex<f32>>, tensor<complex<f32>>) -> tensor<70xcomplex<f32>>
  return %0 : tensor<70xcomplex<f32>>
}
