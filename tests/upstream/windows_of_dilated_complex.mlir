// IREE cannot fill memory with complex128 where it dilates an array.
// EXPECT: refused
// INPUT: [1.0, 2.0]
func.func @main(%x: tensor<3xf64>) -> tensor<4xf64> {
  %z = stablehlo.complex %x, %x : tensor<3xcomplex<f64>>
  %re = stablehlo.constant dense<0.0> : tensor<f64>
  %c = stablehlo.complex %re, %re : tensor<complex<f64>>
  %0 = "stablehlo.reduce_window"(%z, %c) <{base_dilations = array<i64: 2>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
    %1 = stablehlo.add %a, %b : tensor<complex<f64>>
    stablehlo.return %1 : tensor<complex<f64>>
  }) : (tensor<3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
  %2 = stablehlo.real %0 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  return %2 : tensor<4xf64>
}
