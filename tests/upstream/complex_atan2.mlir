// IREE's quotient, root and logarithm lose the digits of what is nearly 1.
// EXPECT: wrong
// SPEC: atan2: "For complex numbers: complex atan2."; the specification does not say how exact it
// SPEC: is.
// INPUT: [1e-5+1e-6j, 3e-4-1e-5j]
// INPUT: [1+0j, 2+0j]
func.func @main(%y: tensor<2xcomplex<f32>>, %x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.atan2 %y, %x : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
