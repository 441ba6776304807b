// IREE converts the real part otherwise than real numbers.
// EXPECT: wrong
// SPEC: convert: "The conversion of the real part follows the floating-point conversions."
// INPUT: [1000.0, nan]
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xi8> {
  %0 = stablehlo.convert %x : (tensor<2xcomplex<f32>>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}
