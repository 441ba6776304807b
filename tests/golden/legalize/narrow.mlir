// RUN: --pipeline "legalize{target=iree-cpu}"

// Float64 becomes an odd float32 first, which is rounded once more as the float64 would be. One that
// is subnormal is put together from bits: the processor would flush it.
func.func @convert_of_double_to_narrow(%x: tensor<4xf64>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xf64>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
// CHECK:      func.func @convert_of_double_to_narrow([[X:%\w+]]: tensor<4xf64>
// CHECK-NEXT:   [[NEAR:%\w+]] = stablehlo.convert [[X]] : (tensor<4xf64>) -> tensor<4xf32>
// CHECK-DAG:    [[BACK:%\w+]] = stablehlo.convert [[NEAR]] : (tensor<4xf32>) -> tensor<4xf64>
// CHECK-DAG:    [[BITS:%\w+]] = stablehlo.bitcast_convert [[NEAR]]
// CHECK-DAG:    stablehlo.compare EQ, [[BACK]], [[X]]
// CHECK-DAG:    stablehlo.and [[BITS]],
// CHECK:        [[KEPT:%\w+]] = stablehlo.or
// CHECK:        [[NEIGHBOUR:%\w+]] = stablehlo.bitcast_convert {{.*}} -> tensor<4xf32>
// CHECK:        [[ODD:%\w+]] = stablehlo.select [[KEPT]], [[NEAR]], [[NEIGHBOUR]]
// CHECK:        stablehlo.convert {{.*}} : (tensor<4xf64>) -> tensor<4xui32>
// CHECK:        [[SMALL:%\w+]] = stablehlo.bitcast_convert {{.*}} : (tensor<4xui32>) -> tensor<4xf32>
// CHECK-NEXT:   [[WHOLE:%\w+]] = stablehlo.select {{.*}}, [[SMALL]], [[ODD]]
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.convert [[WHOLE]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:   return [[R]]

// An 8-bit float goes through float32 to what is not float32.
func.func @convert_of_float8(%x: tensor<4xf8E5M2>) -> tensor<4xf16> {
  %0 = stablehlo.convert %x : (tensor<4xf8E5M2>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
// CHECK:      func.func @convert_of_float8([[X:%\w+]]
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convert [[X]] : (tensor<4xf8E5M2>) -> tensor<4xf32>
// CHECK-NEXT:   stablehlo.convert [[WIDE]] : (tensor<4xf32>) -> tensor<4xf16>

// Integers go through float32, which is rounded by its bits, to bfloat16.
func.func @bfloat16_of_integers(%x: tensor<4xi32>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
// CHECK:      func.func @bfloat16_of_integers([[X:%\w+]]
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convert [[X]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:   [[NEAR:%\w+]] = "stablehlo.map"([[WIDE]])
// CHECK:          stablehlo.shift_right_logical
// CHECK:        stablehlo.convert [[NEAR]] : (tensor<4xf32>) -> tensor<4xbf16>

// Float16 goes through float32 to an 8-bit float, and what lies between the largest subnormal and
// the smallest normal number, nearer to the latter, is made the latter before.
func.func @convert_to_float8(%x: tensor<4xf16>) -> tensor<4xf8E5M2> {
  %0 = stablehlo.convert %x : (tensor<4xf16>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
// CHECK:      func.func @convert_to_float8([[X:%\w+]]
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convert [[X]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK:        [[UP:%\w+]] = stablehlo.and
// CHECK:        [[IN:%\w+]] = stablehlo.select [[UP]], {{.*}}, [[WIDE]]
// CHECK-NEXT:   stablehlo.convert [[IN]] : (tensor<4xf32>) -> tensor<4xf8E5M2>

// Both nans of float8_e4m3fn are known by their bits.
func.func @nan_of_float8(%x: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @nan_of_float8([[X:%\w+]]
// CHECK:        [[BITS:%\w+]] = stablehlo.bitcast_convert [[X]] : {{.*}} -> tensor<4xui8>
// CHECK:        [[NAN:%\w+]] = stablehlo.compare EQ,
// CHECK:        [[WIDE:%\w+]] = stablehlo.convert [[X]]
// CHECK:        stablehlo.select [[NAN]], {{.*}}, [[WIDE]]

func.func @nan_of_float8.compared(%x: tensor<4xf8E4M3FN>) -> tensor<4xi1> {
  %0 = stablehlo.compare NE, %x, %x : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
// CHECK:      func.func @nan_of_float8.compared([[X:%\w+]]
// CHECK:        stablehlo.bitcast_convert [[X]]
// CHECK:        stablehlo.compare NE, {{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

// Of a complex number the real part is converted, as real numbers are.
func.func @convert_of_complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xf64> {
  %0 = stablehlo.convert %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
// CHECK:      func.func @convert_of_complex([[X:%\w+]]
// CHECK-NEXT:   [[REAL:%\w+]] = stablehlo.real [[X]]
// CHECK-NEXT:   stablehlo.convert [[REAL]] : (tensor<4xf32>) -> tensor<4xf64>

// What is rounded and used is rounded by its bits. What is stored is left to IREE.
func.func @float32_rounded_to_bfloat16(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.sine %1 : tensor<4xf32>
  %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xbf16>
  return %1, %3 : tensor<4xf32>, tensor<4xbf16>
}
// CHECK:      func.func @float32_rounded_to_bfloat16([[X:%\w+]]: tensor<4xf32>
// CHECK:        [[NEAR:%\w+]] = "stablehlo.map"([[X]])
// CHECK:          stablehlo.bitcast_convert {{.*}} -> tensor<ui32>
// CHECK:        [[SAME:%\w+]] = stablehlo.convert [[NEAR]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.convert [[SAME]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:        [[LAST:%\w+]] = stablehlo.convert {{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK:        return [[R]], [[LAST]]

// Each operation on bfloat16 is rounded.
func.func @function_of_bfloat16(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.multiply %x, %x : tensor<4xbf16>
  %1 = stablehlo.add %0, %x : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}
// CHECK:      func.func @function_of_bfloat16([[X:%\w+]]
// CHECK:        [[P:%\w+]] = stablehlo.multiply {{.*}} : tensor<4xf32>
// CHECK-NEXT:   [[NEAR:%\w+]] = "stablehlo.map"([[P]])
// CHECK:        [[SAME:%\w+]] = stablehlo.convert [[NEAR]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK:        [[WIDE:%\w+]] = stablehlo.convert [[SAME]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:        [[S:%\w+]] = stablehlo.add [[WIDE]], {{.*}} : tensor<4xf32>
// CHECK-NEXT:   stablehlo.convert [[S]] : (tensor<4xf32>) -> tensor<4xbf16>
