// IREE's functions of complex numbers overflow and cancel.
// EXPECT: wrong
// SPEC: sqrt: "For complex numbers: complex square root."; the specification does not say how
// SPEC: exact it is.
// INPUT: [-1e30-1e-10j, 2e38+2e38j, -4+0j, 1e-40j]
// TOLERANCE: 0.0001
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.sqrt %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
