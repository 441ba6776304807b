// What must stay as it is, and why.

// RUN: --pipeline "simplify"

// nan * 0 and inf * 0 are nan
func.func @zero_times_float(%x: tensor<12xf32>) -> tensor<12xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<12xf32>
  %y = stablehlo.multiply %x, %0 : tensor<12xf32>
  return %y : tensor<12xf32>
}
// CHECK:      func.func @zero_times_float([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<12xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[ZERO]] : tensor<12xf32>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<12xf32>

// 0.0 - 0.0 is 0.0, and -(0.0) is -0.0
func.func @zero_minus_float(%x: tensor<12xf32>) -> tensor<12xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<12xf32>
  %y = stablehlo.subtract %0, %x : tensor<12xf32>
  return %y : tensor<12xf32>
}
// CHECK:      func.func @zero_minus_float([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<12xf32>
// CHECK-NEXT:   [[SUBTRACT:%\w+]] = stablehlo.subtract [[ZERO]], [[X]] : tensor<12xf32>
// CHECK-NEXT:   return [[SUBTRACT]] : tensor<12xf32>

// subtract and divide have a neutral element on the right only
func.func @wrong_side(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %1 = stablehlo.constant dense<1.0> : tensor<12xf32>
  %y = stablehlo.divide %1, %x : tensor<12xf32>
  %z = stablehlo.power %1, %x : tensor<12xf32>
  return %y, %z : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @wrong_side([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<12xf32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[ONE]], [[X]] : tensor<12xf32>
// CHECK-NEXT:   [[POWER:%\w+]] = stablehlo.power [[ONE]], [[X]] : tensor<12xf32>
// CHECK-NEXT:   return [[DIVIDE]], [[POWER]] : tensor<12xf32>, tensor<12xf32>

// -(MIN / 2) is not MIN / -2, and -(-MIN / y) is not MIN / y: -MIN is MIN
func.func @integer_signs(%x: tensor<6xi32>, %y: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
  %2 = stablehlo.constant dense<2> : tensor<6xi32>
  %a = stablehlo.divide %x, %2 : tensor<6xi32>
  %b = stablehlo.negate %a : tensor<6xi32>
  %c = stablehlo.negate %x : tensor<6xi32>
  %d = stablehlo.divide %c, %y : tensor<6xi32>
  %e = stablehlo.negate %d : tensor<6xi32>
  return %b, %e : tensor<6xi32>, tensor<6xi32>
}
// CHECK:      func.func @integer_signs([[X:%\w+]]: tensor<6xi32>, [[Y:%\w+]]: tensor<6xi32>)
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<2> : tensor<6xi32>
// CHECK-NEXT:   [[DIVIDE:%\w+]] = stablehlo.divide [[X]], [[C]] : tensor<6xi32>
// CHECK-NEXT:   [[NEGATE:%\w+]] = stablehlo.negate [[DIVIDE]] : tensor<6xi32>
// CHECK-NEXT:   [[NEGATE_2:%\w+]] = stablehlo.negate [[X]] : tensor<6xi32>
// CHECK-NEXT:   [[DIVIDE_2:%\w+]] = stablehlo.divide [[NEGATE_2]], [[Y]] : tensor<6xi32>
// CHECK-NEXT:   [[NEGATE_3:%\w+]] = stablehlo.negate [[DIVIDE_2]] : tensor<6xi32>
// CHECK-NEXT:   return [[NEGATE]], [[NEGATE_3]] : tensor<6xi32>, tensor<6xi32>

// inf * (-1 + 0i) holds a nan
func.func @complex_minus_one(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %c = stablehlo.constant dense<(-1.0, 0.0)> : tensor<3xcomplex<f32>>
  %y = stablehlo.multiply %x, %c : tensor<3xcomplex<f32>>
  return %y : tensor<3xcomplex<f32>>
}
// CHECK:      func.func @complex_minus_one([[X:%\w+]]: tensor<3xcomplex<f32>>)
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<(-1.000000e+00,0.000000e+00)> : tensor<3xcomplex<f32>>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[C]] : tensor<3xcomplex<f32>>
// CHECK-NEXT:   return [[MULTIPLY]] : tensor<3xcomplex<f32>>

// f32 -> f16 -> f32, i32 -> f32 -> i32 and i64 -> f64 -> i64 round
func.func @rounding(%x: tensor<12xf32>, %i: tensor<6xi32>, %j: tensor<6xi64>) -> (tensor<12xf32>, tensor<6xi32>, tensor<6xi64>) {
  %a = stablehlo.convert %x : (tensor<12xf32>) -> tensor<12xf16>
  %b = stablehlo.convert %a : (tensor<12xf16>) -> tensor<12xf32>
  %c = stablehlo.convert %i : (tensor<6xi32>) -> tensor<6xf32>
  %d = stablehlo.convert %c : (tensor<6xf32>) -> tensor<6xi32>
  %e = stablehlo.convert %j : (tensor<6xi64>) -> tensor<6xf64>
  %f = stablehlo.convert %e : (tensor<6xf64>) -> tensor<6xi64>
  return %b, %d, %f : tensor<12xf32>, tensor<6xi32>, tensor<6xi64>
}
// CHECK:      func.func @rounding([[X:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[I:%\w+]]: tensor<6xi32>,
// CHECK-SAME:   [[J:%\w+]]: tensor<6xi64>)
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[X]] : (tensor<12xf32>) -> tensor<12xf16>
// CHECK-NEXT:   [[CONVERT_2:%\w+]] = stablehlo.convert [[CONVERT]] : (tensor<12xf16>) -> tensor<12xf32>
// CHECK-NEXT:   [[CONVERT_3:%\w+]] = stablehlo.convert [[I]] : (tensor<6xi32>) -> tensor<6xf32>
// CHECK-NEXT:   [[CONVERT_4:%\w+]] = stablehlo.convert [[CONVERT_3]] : (tensor<6xf32>) -> tensor<6xi32>
// CHECK-NEXT:   [[CONVERT_5:%\w+]] = stablehlo.convert [[J]] : (tensor<6xi64>) -> tensor<6xf64>
// CHECK-NEXT:   [[CONVERT_6:%\w+]] = stablehlo.convert [[CONVERT_5]] : (tensor<6xf64>) -> tensor<6xi64>
// CHECK-NEXT:   return [[CONVERT_2]], [[CONVERT_4]], [[CONVERT_6]] : tensor<12xf32>, tensor<6xi32>, tensor<6xi64>

// The free dimensions of x, which the result has too, change their order
func.func @free_dimensions(%x: tensor<2x3x4xf32>, %y: tensor<4xf32>) -> tensor<3x2xf32> {
  %a = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %z = stablehlo.dot_general %a, %y, contracting_dims = [2] x [0] : (tensor<3x2x4xf32>, tensor<4xf32>) -> tensor<3x2xf32>
  return %z : tensor<3x2xf32>
}
// CHECK:      func.func @free_dimensions([[X:%\w+]]: tensor<2x3x4xf32>, [[Y:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[X]], dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT:   [[DOT:%\w+]] = stablehlo.dot_general [[TRANSPOSE]], [[Y]], contracting_dims = [2] x [0] : (tensor<3x2x4xf32>, tensor<4xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   return [[DOT]] : tensor<3x2xf32>

// The dimensions that are left of a sum change their order
func.func @left_dimensions(%x: tensor<2x3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %b = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x3x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %b : tensor<2x2xf32>
}
// CHECK:      func.func @left_dimensions([[X:%\w+]]: tensor<2x3x2xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[X]], dims = [2, 1, 0] : (tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[TRANSPOSE]] init: [[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<2x3x2xf32>, tensor<f32>) -> tensor<2x2xf32>
// CHECK-NEXT:   return [[REDUCE]] : tensor<2x2xf32>

// A sum that starts from 1
func.func @sums(%x: tensor<1xf32>) -> tensor<f32> {
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %1) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  return %a : tensor<f32>
}
// CHECK:      func.func @sums([[X:%\w+]]: tensor<1xf32>)
// CHECK-NEXT:   [[ONE:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[REDUCE:%\w+]] = stablehlo.reduce([[X]] init: [[ONE]]) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   return [[REDUCE]] : tensor<f32>

// Pads by different values
func.func @pad_by_another(%x: tensor<3xf32>) -> tensor<5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %a = stablehlo.pad %x, %zero, low = [1], high = [0], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.pad %a, %one, low = [0], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return %b : tensor<5xf32>
}
// CHECK:      func.func @pad_by_another
// CHECK-COUNT-2: stablehlo.pad

// These clamp indices to others
func.func @tighter_clamps(%x: tensor<5xf32>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %one = stablehlo.constant dense<1> : tensor<3xi32>
  %most = stablehlo.constant dense<3> : tensor<3xi32>
  %j = stablehlo.maximum %i, %one : tensor<3xi32>
  %k = stablehlo.minimum %i, %most : tensor<3xi32>
  %0 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3xi32>) -> tensor<3xf32>
  %1 = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3xi32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
// CHECK:      func.func @tighter_clamps(
// CHECK:        [[J:%\w+]] = stablehlo.maximum
// CHECK:        [[K:%\w+]] = stablehlo.minimum
// CHECK:        "stablehlo.gather"(%{{\w+}}, [[J]])
// CHECK:        "stablehlo.gather"(%{{\w+}}, [[K]])

// Parts that overlap are no concatenation.
func.func @sum_of_overlapping_parts(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.pad %b, %zero, low = [1], high = [0], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK:      func.func @sum_of_overlapping_parts
// CHECK:        stablehlo.pad
// CHECK:        stablehlo.pad
// CHECK:        stablehlo.add

// One addition for all elements takes no longer where most of them change.
func.func @sum_with_large_update(%x: tensor<50xf32>, %y: tensor<30xf32>, %i: tensor<i32>) -> tensor<50xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<50xf32>
  %0 = stablehlo.dynamic_update_slice %zeros, %y, %i : (tensor<50xf32>, tensor<30xf32>, tensor<i32>) -> tensor<50xf32>
  %1 = stablehlo.add %0, %x : tensor<50xf32>
  return %1 : tensor<50xf32>
}
// CHECK:      func.func @sum_with_large_update(
// CHECK:        stablehlo.dynamic_update_slice
// CHECK-NEXT:   stablehlo.add

// Another product uses the elements, which are stored for that
func.func @outer_product_for_product(%x: tensor<5x2xf32>, %y: tensor<5x4xf32>, %z: tensor<4x3xf32>) -> tensor<5x2x3xf32> {
  %a = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [] x []
    : (tensor<5x2xf32>, tensor<5x4xf32>) -> tensor<5x2x4xf32>
  %b = stablehlo.dot_general %a, %z, contracting_dims = [2] x [0] : (tensor<5x2x4xf32>, tensor<4x3xf32>) -> tensor<5x2x3xf32>
  return %b : tensor<5x2x3xf32>
}
// CHECK:      func.func @outer_product_for_product
// CHECK-NEXT:   stablehlo.dot_general
// CHECK-NEXT:   stablehlo.dot_general

// A loop whose number of steps is not known.
func.func @loop_of_steps(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.sine %a : tensor<8xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
// CHECK:      func.func @loop_of_steps
// CHECK:        stablehlo.while

// What counts is returned by a call, of which nothing is known here.
func.func @loop_that_calls(%x: tensor<8xf32>) -> tensor<8xf32> {
  %start = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %start : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = func.call @next(%i, %a) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
    stablehlo.return %1#0, %1#1 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
func.func private @next(%i: tensor<i32>, %a: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %i, %one : tensor<i32>
  return %0, %a : tensor<i32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @loop_that_calls
// CHECK:         stablehlo.while
