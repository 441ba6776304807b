// RUN: --pipeline "legalize{target=iree-vulkan},canonicalize,cse"

// Sums of windows of complex numbers are those of their parts.
func.func @windows_of_complex(%x: tensor<5xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %1 : tensor<complex<f32>>
  }) : (tensor<5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
// CHECK-LABEL: func.func @windows_of_complex
// CHECK-COUNT-2: "stablehlo.reduce_window"(
// CHECK:         stablehlo.complex

func.func @select_of_complex(%c: tensor<2xi1>, %x: tensor<2xcomplex<f32>>, %y: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.select %c, %x, %y : tensor<2xi1>, tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
// CHECK-LABEL: func.func @select_of_complex
// CHECK-COUNT-2: stablehlo.select %arg0, {{.*}} : tensor<2xi1>, tensor<2xf32>
// CHECK:         stablehlo.complex

func.func @convert_of_booleans(%x: tensor<2xi1>) -> tensor<2xi32> {
  %0 = stablehlo.convert %x : (tensor<2xi1>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// CHECK-LABEL: func.func @convert_of_booleans
// CHECK-NOT:     stablehlo.convert
// CHECK:         stablehlo.select %arg0

// SPIR-V looks for bits in 32-bit integers alone.
func.func @leading_zeros_of_narrow(%x: tensor<2xi8>) -> tensor<2xi8> {
  %0 = stablehlo.count_leading_zeros %x : tensor<2xi8>
  return %0 : tensor<2xi8>
}
// CHECK-LABEL: func.func @leading_zeros_of_narrow
// CHECK:         stablehlo.count_leading_zeros {{.*}} : tensor<2x{{u?}}i32>

// No loop is longer than some drivers count.
func.func @reduction_in_parts(%x: tensor<100000xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<100000xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @reduction_in_parts
// CHECK-NOT:     stablehlo.reduce(%arg0
// CHECK-COUNT-2: stablehlo.reduce(
// CHECK:         return

// Rows are sorted by exchanges of neighbours; a library of the host's is not at hand.
func.func @sort_by_exchanges(%x: tensor<9xf32>) -> tensor<9xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<9xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
// CHECK-LABEL: func.func @sort_by_exchanges
// CHECK-NOT:     stablehlo.sort
// CHECK-NOT:     custom_call

// Threads do not wait for each other where something is computed along with small products.
func.func @unfused_product(%x: tensor<2x4x2xf32>, %y: tensor<2x2x3xf32>, %z: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x2xf32>, tensor<2x2x3xf32>) -> tensor<2x4x3xf32>
  %1 = stablehlo.add %0, %z : tensor<2x4x3xf32>
  return %1 : tensor<2x4x3xf32>
}
// CHECK-LABEL: func.func @unfused_product
// CHECK:         %[[P:.*]] = stablehlo.dot_general
// CHECK:         %[[A:.*]] = stablehlo.optimization_barrier %[[P]]
// CHECK:         stablehlo.add %[[A]], %arg2

// The quotient may have more digits than a float.
func.func @remainder_of_singles(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.remainder %x, %y : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL:    func.func @remainder_of_singles
// CHECK-NOT:      stablehlo.remainder {{.*}} : tensor<f32>
// CHECK-COUNT-33: stablehlo.divide {{.*}} : tensor<i32>

// Near 0 the logarithm is a series.
func.func @log_plus_one_of_singles(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.log_plus_one %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @log_plus_one_of_singles
// CHECK-NOT:   stablehlo.log_plus_one
// CHECK:       stablehlo.log %
// CHECK:       stablehlo.select

// Remainders follow from quotients, which are right.
func.func @remainder_of_signed(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %0 = stablehlo.remainder %x, %y : tensor<3xi32>
  return %0 : tensor<3xi32>
}
// CHECK-LABEL: func.func @remainder_of_signed
// CHECK-NOT:   stablehlo.remainder
// CHECK:       stablehlo.divide
// CHECK:       stablehlo.multiply
// CHECK:       stablehlo.subtract

// Half of a number has no sign bit. Of negative numbers, IREE makes no unsigned division.
func.func @unsigned_division(%x: tensor<3xui32>, %y: tensor<3xui32>) -> tensor<3xui32> {
  %0 = stablehlo.divide %x, %y : tensor<3xui32>
  return %0 : tensor<3xui32>
}
// CHECK-LABEL: func.func @unsigned_division
// CHECK:       [[LESS:%\w+]] = stablehlo.negate
// CHECK:       stablehlo.divide [[LESS]], {{.*}} : tensor<3xi32>

// Of two zeros one is chosen by the sign, unless one operand is another constant.
func.func @extremum_of_zeros(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %six = stablehlo.constant dense<6.0> : tensor<3xf32>
  %0 = stablehlo.maximum %x, %y : tensor<3xf32>
  %1 = stablehlo.minimum %x, %six : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
// CHECK-LABEL:   func.func @extremum_of_zeros
// CHECK:         stablehlo.maximum
// CHECK-COUNT-2: stablehlo.select
// CHECK:         stablehlo.minimum
// CHECK-NEXT:    return

// Exponentials are arithmetic, with the integer in the exponent as bits.
func.func @exponential_of_singles(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.exponential %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @exponential_of_singles
// CHECK-NOT:   stablehlo.exponential
// CHECK:       stablehlo.shift_left
// CHECK:       return

func.func @exponential_minus_one_of_singles(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.exponential_minus_one %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @exponential_minus_one_of_singles
// CHECK-NOT:   stablehlo.exponential
// CHECK:       stablehlo.shift_left
// CHECK:       return

func.func @logistic_of_singles(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.logistic %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @logistic_of_singles
// CHECK-NOT:   stablehlo.logistic
// CHECK-NOT:   stablehlo.exponential
// CHECK:       stablehlo.divide

func.func @tanh_of_singles(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.tanh %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @tanh_of_singles
// CHECK-NOT:   stablehlo.tanh
// CHECK:       stablehlo.divide
