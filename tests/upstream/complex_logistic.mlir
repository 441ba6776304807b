// IREE divides by what overflows.
// EXPECT: wrong
// SPEC: logistic: "For complex numbers: complex logistic.", which is finite here.
// INPUT: [-100+1j, 100+1j]
// TOLERANCE: 0.0001
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.logistic %x : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
