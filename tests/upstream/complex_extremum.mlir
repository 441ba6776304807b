// IREE compares real parts alone, and takes the first of two numbers that have the same.
// EXPECT: wrong
// SPEC: maximum: "For complex numbers: lexicographic maximum for the `(real, imaginary)` pair."
// INPUT: [1+1j, 3+0j]
// INPUT: [1+2j, 3+1j]
func.func @main(%x: tensor<2xcomplex<f32>>, %y: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.maximum %x, %y : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
