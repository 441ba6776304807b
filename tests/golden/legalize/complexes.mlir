// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @constant_of_complex128() -> tensor<2xcomplex<f64>> {
  %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
  return %0 : tensor<2xcomplex<f64>>
}
// CHECK:      func.func @constant_of_complex128
// CHECK-NEXT:   [[RE:%\w+]] = stablehlo.constant dense<[1.000000e+00, 3.000000e+00]>
// CHECK-NEXT:   [[IM:%\w+]] = stablehlo.constant dense<[2.000000e+00, 4.000000e+00]>
// CHECK-NEXT:   [[B:%\w+]]:2 = stablehlo.optimization_barrier [[RE]], [[IM]]
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.complex [[B]]#0, [[B]]#1
// CHECK-NEXT:   return [[R]]

func.func @pad_of_complex(%x: tensor<2xcomplex<f64>>, %y: tensor<complex<f64>>) -> tensor<4xcomplex<f64>> {
  %0 = stablehlo.pad %x, %y, low = [1], high = [1], interior = [0] : (tensor<2xcomplex<f64>>, tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
// CHECK:      func.func @pad_of_complex
// CHECK:        [[RE:%\w+]] = stablehlo.pad {{.*}} -> tensor<4xf64>
// CHECK:        [[IM:%\w+]] = stablehlo.pad {{.*}} -> tensor<4xf64>
// CHECK-NEXT:   stablehlo.complex [[RE]], [[IM]]

// The bits of complex numbers are those of their parts.
func.func @bitcast_of_complex(%x: tensor<3x2xcomplex<f32>>) -> tensor<3xcomplex<f64>> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3x2xcomplex<f32>>) -> tensor<3xcomplex<f64>>
  return %0 : tensor<3xcomplex<f64>>
}
// CHECK:      func.func @bitcast_of_complex
// CHECK:        [[BITS:%\w+]] = stablehlo.bitcast_convert {{.*}} : (tensor<3x2x2xf32>) -> tensor<3x2xf64>
// CHECK-NEXT:   stablehlo.slice [[BITS]] [0:3, 0:1]
// CHECK:        stablehlo.complex
