// MLIR's expansion of CHLO overflows where sinh does not.
// EXPECT: wrong
// SPEC: CHLO's description, sinh: "Returns `Sinh(operand)` element-wise"; how exact it is, is not
// SPEC: said.
// INPUT: [1e-6+1e-6j, 89+0.5j]
// TOLERANCE: 0.001
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = chlo.sinh %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
