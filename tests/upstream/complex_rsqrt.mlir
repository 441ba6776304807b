// IREE squares the parts: 1e30 has no square in float32.
// EXPECT: wrong
// SPEC: rsqrt: "For complex numbers: complex reciprocal square root.", which is not zero here.
// INPUT: [1e-4-1e-4j, 2e38+2e38j, 4e-42, -1e30]
// TOLERANCE: 0.0001
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.rsqrt %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
