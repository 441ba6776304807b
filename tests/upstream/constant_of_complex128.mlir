// IREE's compiler divides by zero on these constants.
// EXPECT: crashes
func.func @main() -> tensor<2xcomplex<f64>> {
  %c = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
  return %c : tensor<2xcomplex<f64>>
}
