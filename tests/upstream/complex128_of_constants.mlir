// IREE computes ahead what follows from constants, and takes one part for both where that is
// transposed for a product.
// EXPECT: wrong
// SPEC: dot_general: "`inputs=[multiply(reshaped_lhs_slice, reshaped_rhs_slice)]`", with complex
// SPEC: multiplication.
// INPUT: [1.0, 2j]
func.func @main(%x: tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>> {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf64>
  %c = stablehlo.complex %a, %b : tensor<2x2xcomplex<f64>>
  %0 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [1] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  return %0 : tensor<2x2xcomplex<f64>>
}
