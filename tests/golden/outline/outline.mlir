// RUN: --pipeline "outline{many=3}"

// Many functions of arrays of one size become calls of functions of scalars, each written once.
func.func @real(%x: tensor<200xf32>, %y: tensor<7xf32>) -> (tensor<200xf32>, tensor<7xf32>) {
  %0 = stablehlo.sine %x : tensor<200xf32>
  %1 = stablehlo.add %0, %x : tensor<200xf32>
  %2 = stablehlo.sine %1 : tensor<200xf32>
  %3 = chlo.lgamma %2 : tensor<200xf32> -> tensor<200xf32>
  %4 = stablehlo.sine %y : tensor<7xf32>
  return %3, %4 : tensor<200xf32>, tensor<7xf32>
}
// CHECK-LABEL: func.func @real(
// CHECK:         [[A:%\w+]] = stablehlo.custom_call @irax.formula(%arg0) {{.*}}@stablehlo_sine_float32}
// CHECK:         [[B:%\w+]] = stablehlo.add [[A]], %arg0
// CHECK:         [[C:%\w+]] = stablehlo.custom_call @irax.formula([[B]]) {{.*}}@stablehlo_sine_float32}
// CHECK:         [[D:%\w+]] = stablehlo.custom_call @irax.formula([[C]]) {{.*}}@chlo_lgamma_float32}
// CHECK:         [[E:%\w+]] = stablehlo.sine %arg1
// CHECK:         return [[D]], [[E]]

// Complex numbers between them are taken apart.
func.func @complex(%z: tensor<5xcomplex<f32>>, %p: tensor<5xi1>) -> tensor<5xcomplex<f32>> {
  %0 = stablehlo.sine %z : tensor<5xcomplex<f32>>
  %1 = stablehlo.negate %0 : tensor<5xcomplex<f32>>
  %2 = stablehlo.select %p, %0, %1 : tensor<5xi1>, tensor<5xcomplex<f32>>
  %3 = stablehlo.abs %2 : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  %4 = stablehlo.convert %3 : (tensor<5xf32>) -> tensor<5xcomplex<f32>>
  %5 = stablehlo.sine %4 : tensor<5xcomplex<f32>>
  return %5 : tensor<5xcomplex<f32>>
}
// CHECK-LABEL: func.func @complex(
// CHECK:         [[X:%\w+]] = stablehlo.real %arg0
// CHECK:         [[Y:%\w+]] = stablehlo.imag %arg0
// CHECK:         [[S:%\w+]]:2 = stablehlo.custom_call @irax.formula([[X]], [[Y]])
// CHECK:         [[A:%\w+]] = stablehlo.negate [[S]]#0 : tensor<5xf32>
// CHECK:         [[B:%\w+]] = stablehlo.negate [[S]]#1 : tensor<5xf32>
// CHECK:         [[U:%\w+]] = stablehlo.select %arg1, [[S]]#0, [[A]]
// CHECK:         [[V:%\w+]] = stablehlo.select %arg1, [[S]]#1, [[B]]
// CHECK:         [[M:%\w+]] = stablehlo.custom_call @irax.formula([[U]], [[V]]) {{.*}}@stablehlo_abs_complex64}
// CHECK:         [[T:%\w+]]:2 = stablehlo.custom_call @irax.formula([[M]], {{%\w+}})
// CHECK:         [[R:%\w+]] = stablehlo.complex [[T]]#0, [[T]]#1
// CHECK:         return [[R]]

// A long function counts as several.
func.func @long(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = chlo.lgamma %x : tensor<6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// CHECK-LABEL: func.func @long(
// CHECK:         stablehlo.custom_call @irax.formula(%arg0) {{.*}}@chlo_lgamma_float32

// A function of complex numbers counts as four.
func.func @one(%z: tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>> {
  %0 = stablehlo.sine %z : tensor<9xcomplex<f32>>
  return %0 : tensor<9xcomplex<f32>>
}
// CHECK-LABEL: func.func @one(
// CHECK:         stablehlo.custom_call @irax.formula({{.*}}@stablehlo_sine_complex64}

// Arithmetic of complex numbers is taken apart where there is enough of it.
func.func @arithmetic(%z: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.add %z, %z : tensor<8xcomplex<f32>>
  %1 = stablehlo.negate %0 : tensor<8xcomplex<f32>>
  %2 = stablehlo.add %1, %z : tensor<8xcomplex<f32>>
  return %2 : tensor<8xcomplex<f32>>
}
// CHECK-LABEL: func.func @arithmetic(
// CHECK:         [[X:%\w+]] = stablehlo.real %arg0
// CHECK:         [[Y:%\w+]] = stablehlo.imag %arg0
// CHECK:         [[A:%\w+]] = stablehlo.add [[X]], [[X]] : tensor<8xf32>
// CHECK:         [[B:%\w+]] = stablehlo.add [[Y]], [[Y]] : tensor<8xf32>
// CHECK:         stablehlo.negate [[A]] : tensor<8xf32>
// CHECK:         stablehlo.negate [[B]] : tensor<8xf32>

// Composites that are elementwise functions become calls, however few there are.
func.func @composite(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = stablehlo.composite "irax.bessel_i0e" %x {decomposition = @i0e} : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func private @i0e(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = stablehlo.sine %x : tensor<5xf32>
  return %0 : tensor<5xf32>
}
// CHECK-LABEL: func.func @composite(
// CHECK:         [[R:%\w+]] = stablehlo.custom_call @irax.formula(%arg0) {{.*}}@irax_bessel_i0e_float32}
// CHECK:         return [[R]]

// CHECK:       func.func private @stablehlo_sine_float32([[S:%\w+]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    stablehlo.sine [[S]]
// CHECK:       func.func private @stablehlo_sine_complex64({{.*}}) -> (tensor<f32>, tensor<f32>)
// CHECK:       func.func private @irax_bessel_i0e_float32([[X:%\w+]]: tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    stablehlo.composite "irax.bessel_i0e" [[X]]
