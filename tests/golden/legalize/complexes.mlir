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

// IREE cannot fill memory with elements of 128 bits.
func.func @equal_elements(%x: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) {
  %0 = stablehlo.constant dense<(1.0, 1.0)> : tensor<2xcomplex<f64>>
  %1 = stablehlo.add %x, %0 : tensor<2xcomplex<f64>>
  %2 = stablehlo.constant dense<(2.0, 2.0)> : tensor<2xcomplex<f64>>
  return %1, %2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
}
// CHECK:      func.func @equal_elements
// CHECK:        [[ONE:%\w+]] = stablehlo.complex
// CHECK-NEXT:   stablehlo.add {{.*}}, [[ONE]]
// CHECK:        [[B:%\w+]]:2 = stablehlo.optimization_barrier
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.complex [[B]]#0, [[B]]#1
// CHECK-NEXT:   return {{.*}}, [[R]]

// The kernel of a product gets arrays.
func.func @product_with_equal_elements(%x: tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>> {
  %0 = stablehlo.constant dense<(1.0, 1.0)> : tensor<2x2xcomplex<f64>>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  return %1 : tensor<2x2xcomplex<f64>>
}
// CHECK:      func.func @product_with_equal_elements
// CHECK:        [[B:%\w+]]:2 = stablehlo.optimization_barrier
// CHECK-NEXT:   stablehlo.complex [[B]]#0, [[B]]#1

func.func @pad_of_complex(%x: tensor<2xcomplex<f64>>, %y: tensor<complex<f64>>) -> tensor<4xcomplex<f64>> {
  %0 = stablehlo.pad %x, %y, low = [1], high = [1], interior = [0] : (tensor<2xcomplex<f64>>, tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
// CHECK:      func.func @pad_of_complex
// CHECK:        [[RE:%\w+]] = stablehlo.pad {{.*}} -> tensor<4xf64>
// CHECK:        [[IM:%\w+]] = stablehlo.pad {{.*}} -> tensor<4xf64>
// CHECK-NEXT:   stablehlo.complex [[RE]], [[IM]]

func.func @windows_of_dilated_complex(%x: tensor<3xcomplex<f64>>, %y: tensor<complex<f64>>) -> tensor<4xcomplex<f64>> {
  %0 = "stablehlo.reduce_window"(%x, %y) <{base_dilations = array<i64: 2>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
    %1 = stablehlo.add %a, %b : tensor<complex<f64>>
    stablehlo.return %1 : tensor<complex<f64>>
  }) : (tensor<3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
// CHECK:      func.func @windows_of_dilated_complex
// CHECK:        stablehlo.pad {{.*}} interior = [1] : {{.*}} -> tensor<5xf64>
// CHECK:        [[PADDED:%\w+]] = stablehlo.complex
// CHECK:        "stablehlo.reduce_window"([[PADDED]],
// CHECK-NOT:    base_dilations = array<i64: 2>

// IREE would make it a pad, whose fill value it cannot state.
func.func @update_of_complex_splat(%x: tensor<2xcomplex<f32>>, %i: tensor<i32>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>
  %1 = stablehlo.dynamic_update_slice %0, %x, %i : (tensor<4xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<i32>) -> tensor<4xcomplex<f32>>
  return %1 : tensor<4xcomplex<f32>>
}
// CHECK:      func.func @update_of_complex_splat
// CHECK:        [[C:%\w+]] = stablehlo.constant
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[C]]
// CHECK-NEXT:   stablehlo.dynamic_update_slice [[B]]

// The bits of complex numbers are those of their parts.
func.func @bitcast_of_complex(%x: tensor<3x2xcomplex<f32>>) -> tensor<3xcomplex<f64>> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3x2xcomplex<f32>>) -> tensor<3xcomplex<f64>>
  return %0 : tensor<3xcomplex<f64>>
}
// CHECK:      func.func @bitcast_of_complex
// CHECK:        [[BITS:%\w+]] = stablehlo.bitcast_convert {{.*}} : (tensor<3x2x2xf32>) -> tensor<3x2xf64>
// CHECK-NEXT:   stablehlo.slice [[BITS]] [0:3, 0:1]
// CHECK:        stablehlo.complex

// Functions are formulas of the parts, one for each part of the result.
func.func @complex_function(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.log %x : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
// CHECK:      func.func @complex_function([[X:%\w+]]: tensor<3xcomplex<f32>>)
// CHECK-NEXT:   [[RE:%\w+]] = stablehlo.real [[X]]
// CHECK-NEXT:   [[IM:%\w+]] = stablehlo.imag [[X]]
// CHECK-NEXT:   [[PARTS:%\w+]]:2 = stablehlo.optimization_barrier [[RE]], [[IM]]
// CHECK-NEXT:   [[SIZE:%\w+]] = "stablehlo.map"([[PARTS]]#0, [[PARTS]]#1)
// CHECK:        [[ANGLE:%\w+]] = "stablehlo.map"([[PARTS]]#0, [[PARTS]]#1)
// CHECK:        [[B:%\w+]]:2 = stablehlo.optimization_barrier [[SIZE]], [[ANGLE]]
// CHECK-NEXT:   stablehlo.complex [[B]]#0, [[B]]#1

func.func @complex_magnitude(%x: tensor<3xcomplex<f32>>) -> tensor<3xf32> {
  %0 = stablehlo.abs %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK:      func.func @complex_magnitude
// CHECK:        [[SIZE:%\w+]] = "stablehlo.map"
// CHECK:        [[RESULT:%\w+]] = stablehlo.optimization_barrier [[SIZE]] : tensor<3xf32>
// CHECK-NEXT:   return [[RESULT]]

func.func @complex_power(%x: tensor<3xcomplex<f32>>, %y: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.power %x, %y : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
// CHECK:      func.func @complex_power
// CHECK-NOT:    stablehlo.power
// CHECK:        stablehlo.multiply {{.*}} : tensor<3xcomplex<f32>>
// CHECK:        stablehlo.complex

func.func @complex_logistic(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.logistic %x : tensor<3xcomplex<f32>>
  %1 = stablehlo.rsqrt %0 : tensor<3xcomplex<f32>>
  return %1 : tensor<3xcomplex<f32>>
}
// CHECK:      func.func @complex_logistic
// CHECK-NOT:    stablehlo.logistic
// CHECK-NOT:    stablehlo.rsqrt
// CHECK:        return

func.func @complex_extremum(%x: tensor<3xcomplex<f32>>, %y: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.maximum %x, %y : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
// CHECK:      func.func @complex_extremum
// CHECK:        [[A:%\w+]] = stablehlo.real %arg0
// CHECK:        [[C:%\w+]] = stablehlo.real %arg1
// CHECK:        stablehlo.compare EQ, [[A]], [[C]]
// CHECK:        [[Z:%\w+]] = stablehlo.complex
// CHECK:        return [[Z]]

func.func @complex_atan2(%y: tensor<3xcomplex<f32>>, %x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.atan2 %y, %x : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
// CHECK:      func.func @complex_atan2
// CHECK-NOT:    stablehlo.atan2 {{.*}}complex
// CHECK:        return

// Many complex numbers are added up part by part.
func.func @sum_of_complex(%x: tensor<4096x3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
// CHECK:      func.func @sum_of_complex
// CHECK-DAG:    [[REAL:%\w+]] = stablehlo.real %arg0
// CHECK-DAG:    [[IMAG:%\w+]] = stablehlo.imag %arg0
// CHECK-DAG:    [[A:%\w+]] = stablehlo.reduce([[REAL]] init:
// CHECK-DAG:    [[B:%\w+]] = stablehlo.reduce([[IMAG]] init:
// CHECK:        stablehlo.complex [[A]], [[B]] : tensor<3xcomplex<f32>>

// A choice by a single boolean is no kernel in loops and branches: its numbers are an array.
func.func @chosen(%p: tensor<i1>, %x: tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>> {
  %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f64>>
  %1 = stablehlo.select %p, %0, %x : tensor<i1>, tensor<2xcomplex<f64>>
  return %1 : tensor<2xcomplex<f64>>
}
// CHECK:      func.func @chosen
// CHECK:        [[C:%\w+]]:2 = stablehlo.optimization_barrier
// CHECK-NEXT:   stablehlo.complex [[C]]#0, [[C]]#1
