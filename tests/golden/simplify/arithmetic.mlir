// Arithmetic with neutral and absorbing elements. A function is named after the rule that it shows;
// tests/compiler/optimize/test_simplify.py holds the values before and after against each other.

// RUN: --pipeline "simplify"

// x - 0, x * 1, 1 * x, x / 1, x ** 1, max(x, -inf), min(x, inf) are x
func.func @neutral_operand(%x: tensor<12xf32>)
    -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>,
        tensor<12xf32>, tensor<12xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<12xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<12xf32>
  %inf = stablehlo.constant dense<0x7F800000> : tensor<12xf32>
  %minus_inf = stablehlo.constant dense<0xFF800000> : tensor<12xf32>
  %a = stablehlo.subtract %x, %0 : tensor<12xf32>
  %b = stablehlo.multiply %x, %1 : tensor<12xf32>
  %c = stablehlo.multiply %1, %x : tensor<12xf32>
  %d = stablehlo.divide %x, %1 : tensor<12xf32>
  %e = stablehlo.power %x, %1 : tensor<12xf32>
  %f = stablehlo.maximum %x, %minus_inf : tensor<12xf32>
  %g = stablehlo.minimum %inf, %x : tensor<12xf32>
  return %a, %b, %c, %d, %e, %f, %g
    : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>,
      tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @neutral_operand([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   return [[X]], [[X]], [[X]], [[X]], [[X]], [[X]], [[X]] : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>

// x + 0 is x for zeros of both signs, though -0.0 + 0.0 is 0.0: XLA does the same
func.func @neutral_operand.zero(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<12xf32>
  %1 = stablehlo.constant dense<-0.0> : tensor<12xf32>
  %a = stablehlo.add %x, %0 : tensor<12xf32>
  %b = stablehlo.add %1, %x : tensor<12xf32>
  return %a, %b : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @neutral_operand.zero([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   return [[X]], [[X]] : tensor<12xf32>, tensor<12xf32>

// x + 0, x * 1, x / 1, x & ~0, x | 0, x ^ 0, x << 0, max(x, MIN) are x
func.func @neutral_operand.integer(%x: tensor<6xi32>)
    -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>,
        tensor<6xi32>, tensor<6xi32>) {
  %0 = stablehlo.constant dense<0> : tensor<6xi32>
  %1 = stablehlo.constant dense<1> : tensor<6xi32>
  %ones = stablehlo.constant dense<-1> : tensor<6xi32>
  %min = stablehlo.constant dense<-2147483648> : tensor<6xi32>
  %a = stablehlo.add %x, %0 : tensor<6xi32>
  %b = stablehlo.multiply %x, %1 : tensor<6xi32>
  %c = stablehlo.divide %x, %1 : tensor<6xi32>
  %d = stablehlo.and %x, %ones : tensor<6xi32>
  %e = stablehlo.or %x, %0 : tensor<6xi32>
  %f = stablehlo.xor %0, %x : tensor<6xi32>
  %g = stablehlo.shift_left %x, %0 : tensor<6xi32>
  %h = stablehlo.maximum %x, %min : tensor<6xi32>
  return %a, %b, %c, %d, %e, %f, %g, %h
    : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>,
      tensor<6xi32>, tensor<6xi32>
}
// CHECK:      func.func @neutral_operand.integer([[X:%\w+]]: tensor<6xi32>)
// CHECK-NEXT:   return [[X]], [[X]], [[X]], [[X]], [[X]], [[X]], [[X]], [[X]] : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>

// The same of other dtypes; add and multiply of booleans are "or" and "and"
func.func @neutral_operand.dtype(%p: tensor<4xi1>, %i: tensor<6xui8>, %x: tensor<12xbf16>, %z: tensor<3xcomplex<f32>>)
    -> (tensor<4xi1>, tensor<4xi1>, tensor<6xui8>, tensor<12xbf16>, tensor<3xcomplex<f32>>) {
  %false = stablehlo.constant dense<false> : tensor<4xi1>
  %true = stablehlo.constant dense<true> : tensor<4xi1>
  %ones = stablehlo.constant dense<255> : tensor<6xui8>
  %1 = stablehlo.constant dense<1.0> : tensor<12xbf16>
  %0 = stablehlo.constant dense<(0.0, 0.0)> : tensor<3xcomplex<f32>>
  %a = stablehlo.add %p, %false : tensor<4xi1>
  %b = stablehlo.multiply %p, %true : tensor<4xi1>
  %c = stablehlo.and %ones, %i : tensor<6xui8>
  %d = stablehlo.multiply %x, %1 : tensor<12xbf16>
  %e = stablehlo.subtract %z, %0 : tensor<3xcomplex<f32>>
  return %a, %b, %c, %d, %e
    : tensor<4xi1>, tensor<4xi1>, tensor<6xui8>, tensor<12xbf16>, tensor<3xcomplex<f32>>
}
// CHECK:      func.func @neutral_operand.dtype([[P:%\w+]]: tensor<4xi1>,
// CHECK-SAME:   [[I:%\w+]]: tensor<6xui8>,
// CHECK-SAME:   [[X:%\w+]]: tensor<12xbf16>,
// CHECK-SAME:   [[Z:%\w+]]: tensor<3xcomplex<f32>>)
// CHECK-NEXT:   return [[P]], [[P]], [[I]], [[X]], [[Z]] : tensor<4xi1>, tensor<4xi1>, tensor<6xui8>, tensor<12xbf16>, tensor<3xcomplex<f32>>

// x * 0 is 0, x & 0 is 0, x | ~0 is ~0: of integers
func.func @xor_of_the_same(%x: tensor<6xi32>, %y: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
  %0 = stablehlo.xor %x, %y : tensor<6xi32>
  %1 = stablehlo.xor %x, %0 : tensor<6xi32>
  %2 = stablehlo.xor %y, %1 : tensor<6xi32>
  return %1, %2 : tensor<6xi32>, tensor<6xi32>
}

// CHECK:      func.func @xor_of_the_same([[X:%\w+]]: tensor<6xi32>, [[Y:%\w+]]: tensor<6xi32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0> : tensor<6xi32>
// CHECK-NEXT:   return [[Y]], [[ZERO]] : tensor<6xi32>, tensor<6xi32>

func.func @absorbing_operand(%x: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) {
  %0 = stablehlo.constant dense<0> : tensor<6xi32>
  %ones = stablehlo.constant dense<-1> : tensor<6xi32>
  %a = stablehlo.multiply %x, %0 : tensor<6xi32>
  %b = stablehlo.and %0, %x : tensor<6xi32>
  %c = stablehlo.or %x, %ones : tensor<6xi32>
  return %a, %b, %c : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}
// CHECK:      func.func @absorbing_operand([[X:%\w+]]: tensor<6xi32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0> : tensor<6xi32>
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<-1> : tensor<6xi32>
// CHECK-NEXT:   return [[ZERO]], [[ZERO]], [[C]] : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>

// select(true, x, y) is x, select(false, x, y) is y, select(p, x, x) is x
func.func @select_of_one_value(%p: tensor<12xi1>, %x: tensor<12xf32>, %y: tensor<12xf32>)
    -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) {
  %true = stablehlo.constant dense<true> : tensor<12xi1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %a = stablehlo.select %true, %x, %y : tensor<12xi1>, tensor<12xf32>
  %b = stablehlo.select %false, %x, %y : tensor<i1>, tensor<12xf32>
  %c = stablehlo.select %p, %x, %x : tensor<12xi1>, tensor<12xf32>
  return %a, %b, %c : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @select_of_one_value([[P:%\w+]]: tensor<12xi1>,
// CHECK-SAME:   [[X:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   return [[X]], [[Y]], [[X]] : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>

// select(not p, x, y) is select(p, y, x)
func.func @select_by_negation(%p: tensor<12xi1>, %x: tensor<12xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %q = stablehlo.not %p : tensor<12xi1>
  %z = stablehlo.select %q, %x, %y : tensor<12xi1>, tensor<12xf32>
  return %z : tensor<12xf32>
}
// CHECK:      func.func @select_by_negation([[P:%\w+]]: tensor<12xi1>,
// CHECK-SAME:   [[X:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[P]], [[Y]], [[X]] : tensor<12xi1>, tensor<12xf32>
// CHECK-NEXT:   return [[SELECT]] : tensor<12xf32>

// Where p holds already, the inner choice is made
func.func @select_of_select(%p: tensor<12xi1>, %x: tensor<12xf32>, %y: tensor<12xf32>, %z: tensor<12xf32>)
    -> (tensor<12xf32>, tensor<12xf32>) {
  %inner = stablehlo.select %p, %x, %y : tensor<12xi1>, tensor<12xf32>
  %a = stablehlo.select %p, %inner, %z : tensor<12xi1>, tensor<12xf32>
  %b = stablehlo.select %p, %z, %inner : tensor<12xi1>, tensor<12xf32>
  return %a, %b : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @select_of_select([[P:%\w+]]: tensor<12xi1>,
// CHECK-SAME:   [[X:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Z:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[P]], [[X]], [[Z]] : tensor<12xi1>, tensor<12xf32>
// CHECK-NEXT:   [[SELECT_2:%\w+]] = stablehlo.select [[P]], [[Z]], [[Y]] : tensor<12xi1>, tensor<12xf32>
// CHECK-NEXT:   return [[SELECT]], [[SELECT_2]] : tensor<12xf32>, tensor<12xf32>

// Nothing to convert
func.func @convert_to_same(%x: tensor<12xf32>) -> tensor<12xf32> {
  %y = stablehlo.convert %x : tensor<12xf32>
  return %y : tensor<12xf32>
}
// CHECK:      func.func @convert_to_same([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   return [[X]] : tensor<12xf32>

// Through a dtype that has all values of the first one: f32 -> f64 -> f32, bf16 -> f32 -> f16,
// i8 -> i32 -> f32, i1 -> f32 -> i32
func.func @convert_of_exact_convert(%x: tensor<12xf32>, %y: tensor<12xbf16>, %i: tensor<6xi8>, %p: tensor<4xi1>)
    -> (tensor<12xf32>, tensor<12xf16>, tensor<6xf32>, tensor<4xi32>) {
  %x64 = stablehlo.convert %x : (tensor<12xf32>) -> tensor<12xf64>
  %y32 = stablehlo.convert %y : (tensor<12xbf16>) -> tensor<12xf32>
  %i32 = stablehlo.convert %i : (tensor<6xi8>) -> tensor<6xi32>
  %p32 = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
  %a = stablehlo.convert %x64 : (tensor<12xf64>) -> tensor<12xf32>
  %b = stablehlo.convert %y32 : (tensor<12xf32>) -> tensor<12xf16>
  %c = stablehlo.convert %i32 : (tensor<6xi32>) -> tensor<6xf32>
  %d = stablehlo.convert %p32 : (tensor<4xf32>) -> tensor<4xi32>
  return %a, %b, %c, %d : tensor<12xf32>, tensor<12xf16>, tensor<6xf32>, tensor<4xi32>
}
// CHECK:      func.func @convert_of_exact_convert([[X:%\w+]]: tensor<12xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<12xbf16>,
// CHECK-SAME:   [[I:%\w+]]: tensor<6xi8>,
// CHECK-SAME:   [[P:%\w+]]: tensor<4xi1>)
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[Y]] : (tensor<12xbf16>) -> tensor<12xf16>
// CHECK-NEXT:   [[CONVERT_2:%\w+]] = stablehlo.convert [[I]] : (tensor<6xi8>) -> tensor<6xf32>
// CHECK-NEXT:   [[CONVERT_3:%\w+]] = stablehlo.convert [[P]] : (tensor<4xi1>) -> tensor<4xi32>
// CHECK-NEXT:   return [[X]], [[CONVERT]], [[CONVERT_2]], [[CONVERT_3]] : tensor<12xf32>, tensor<12xf16>, tensor<6xf32>, tensor<4xi32>

// Real numbers are their own real parts, and have no imaginary ones
func.func @part_of_real(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %a = stablehlo.real %x : (tensor<12xf32>) -> tensor<12xf32>
  %b = stablehlo.imag %x : (tensor<12xf32>) -> tensor<12xf32>
  return %a, %b : tensor<12xf32>, tensor<12xf32>
}
// CHECK:      func.func @part_of_real([[X:%\w+]]: tensor<12xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<12xf32>
// CHECK-NEXT:   return [[X]], [[ZERO]]

func.func @idempotent_of_the_same(%x: tensor<3xf32>, %y: tensor<3xi8>) -> (tensor<3xf32>, tensor<3xi8>) {
  %0 = stablehlo.maximum %x, %x : tensor<3xf32>
  %1 = stablehlo.and %y, %y : tensor<3xi8>
  return %0, %1 : tensor<3xf32>, tensor<3xi8>
}
// CHECK:      func.func @idempotent_of_the_same([[X:%\w+]]: tensor<3xf32>, [[Y:%\w+]]: tensor<3xi8>)
// CHECK-NEXT:   return [[X]], [[Y]] : tensor<3xf32>, tensor<3xi8>

// Floats may be nan, which is equal to nothing
func.func @compare_with_itself(%x: tensor<3xf32>, %y: tensor<3xui8>) -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>) {
  %0 = stablehlo.compare LT, %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %1 = stablehlo.compare GE, %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %2 = stablehlo.compare GE, %y, %y : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  return %0, %1, %2 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>
}
// CHECK:      func.func @compare_with_itself([[X:%\w+]]: tensor<3xf32>
// CHECK-DAG:    [[FALSE:%\w+]] = stablehlo.constant dense<false> : tensor<3xi1>
// CHECK-DAG:    [[TRUE:%\w+]] = stablehlo.constant dense<true> : tensor<3xi1>
// CHECK-DAG:    [[GE:%\w+]] = stablehlo.compare  GE, [[X]], [[X]]
// CHECK:        return [[FALSE]], [[GE]], [[TRUE]] : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>
