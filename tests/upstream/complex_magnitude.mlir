// IREE squares the parts: 1e30 has no square in float32.
// EXPECT: wrong
// SPEC: abs: "For complex numbers: complex modulus.", which is finite here.
// INPUT: [3e30+4e30j, 3e-30+4e-30j]
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
