// What IREE cannot compile for GPUs. Conversions of 8-bit floats and sorts: test_gpu_cures.py.
// RUN: --pipeline "legalize{target=iree-cuda}"

func.func @contraction_of_float8(%x: tensor<2x3xf8E5M2>, %y: tensor<3xf8E5M2>) -> tensor<2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x3xf8E5M2>, tensor<3xf8E5M2>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// CHECK-LABEL: func.func @contraction_of_float8
// CHECK-NOT:     stablehlo.convert {{.*}}f8E5M2
// CHECK:         stablehlo.dot_general {{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>

func.func @reduction_of_complex(%x: tensor<4xcomplex<f32>>) -> tensor<complex<f32>> {
  %z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}
// CHECK-LABEL: func.func @reduction_of_complex
// CHECK:         [[SUM:%\w+]] = stablehlo.reduce
// CHECK-NEXT:    [[R:%\w+]] = stablehlo.optimization_barrier [[SUM]]
// CHECK-NEXT:    return [[R]]

// Nothing is fused with what it is not computed by.
func.func @scatter_of_computed_updates(
    %x: tensor<4xf32>, %i: tensor<2x1xi32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %y : tensor<2xf32>
  %1 = "stablehlo.scatter"(%x, %i, %0) <{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @scatter_of_computed_updates
// CHECK:         [[UPDATES:%\w+]] = stablehlo.optimization_barrier
// CHECK-NEXT:    stablehlo.scatter"({{.*}}, {{.*}}, [[UPDATES]])

func.func @reduction_from_computed_init(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %y) applies stablehlo.maximum across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @reduction_from_computed_init
// CHECK:         [[OWN:%\w+]] = stablehlo.optimization_barrier %arg1
// CHECK-NEXT:    stablehlo.reduce(%arg0 init: [[OWN]])
// CHECK-NOT:     stablehlo.optimization_barrier

// By parity: an order that is none of keys.
func.func @sort_by_any_order(%x: tensor<4xi32>, %y: tensor<4xf32>) -> tensor<4xi32> {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.and %a, %1 : tensor<i32>
    %3 = stablehlo.and %b, %1 : tensor<i32>
    %4 = stablehlo.compare LT, %2, %3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
  return %0#0 : tensor<4xi32>
}
// CHECK-LABEL: func.func @sort_by_any_order
// CHECK:         [[R:%\w+]]:2 = "stablehlo.sort"
// CHECK:         [[S:%\w+]]:2 = stablehlo.optimization_barrier [[R]]#0, [[R]]#1
// CHECK-NEXT:    return [[S]]#0

func.func @slice_of_reduction(%x: tensor<4x4xf32>) -> tensor<3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.slice %1 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
// CHECK-LABEL: func.func @slice_of_reduction
// CHECK:         [[ALL:%\w+]] = stablehlo.optimization_barrier
// CHECK-NEXT:    stablehlo.slice [[ALL]] [0:3]

func.func @slice_with_constant(%x: tensor<4xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.slice %0 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %2 = stablehlo.add %x, %x : tensor<4xf32>
  %3 = stablehlo.slice %2 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  return %1, %3 : tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @slice_with_constant
// CHECK:         [[SUM:%\w+]] = stablehlo.optimization_barrier
// CHECK-NEXT:    stablehlo.slice [[SUM]] [1:4]
// CHECK-NOT:     stablehlo.optimization_barrier

// GPUs have no kernels for transforms: products of matrices.
func.func @fourier_transform(%x: tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  return %0 : tensor<3x8xcomplex<f32>>
}
// CHECK:      func.func @fourier_transform
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<2x3x16xf32>
// CHECK-NOT:    stablehlo.fft

// A longer one is two, with a factor for each number between them.
func.func @composite(%x: tensor<3x128xf32>) -> tensor<3x65xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [128] : (tensor<3x128xf32>) -> tensor<3x65xcomplex<f32>>
  return %0 : tensor<3x65xcomplex<f32>>
}
// CHECK:      func.func @composite
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<2x3x2x128xf32>
// CHECK:        stablehlo.dot_general {{.*}} -> tensor<2x192x4xf32>
// CHECK-NOT:    dot_general

// exp(x) - 1, corrected by what the subtraction lost.
func.func @exponential_minus_one_of_doubles(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.exponential_minus_one %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
// CHECK:      func.func @exponential_minus_one_of_doubles([[X:%\w+]]: tensor<4xf64>
// CHECK:        [[EXP:%\w+]] = stablehlo.exponential [[X]]
// CHECK:        [[LESS:%\w+]] = stablehlo.subtract [[EXP]],
// CHECK:        [[LOG:%\w+]] = stablehlo.log [[EXP]]
// CHECK-NEXT:   [[LOST:%\w+]] = stablehlo.divide [[X]], [[LOG]]
// CHECK-NEXT:   stablehlo.multiply [[LESS]], [[LOST]]

// Matrices are eliminated together, column by column, in a loop.
func.func @cholesky(%x: tensor<64x5x5xf32>) -> tensor<64x5x5xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<64x5x5xf32>
  return %0 : tensor<64x5x5xf32>
}
// CHECK:      func.func @cholesky
// CHECK:        stablehlo.while
// CHECK:          stablehlo.sqrt
// CHECK-NOT:    stablehlo.cholesky
