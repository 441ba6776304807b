// A float32 beyond what an int32 holds becomes the largest or the smallest of them, and nan 0.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @saturating_convert(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// CHECK:      func.func @saturating_convert([[X:%\w+]]: tensor<4xf32>
// CHECK-DAG:    [[LEAST:%\w+]] = stablehlo.constant dense<-2.14748365E+9>
// CHECK-DAG:    [[MOST:%\w+]] = stablehlo.constant dense<2.14748352E+9> : tensor<f32>
// CHECK:        [[INSIDE:%\w+]] = stablehlo.clamp [[LEAST]], [[X]], [[MOST]]
// CHECK-NEXT:   [[INT:%\w+]] = stablehlo.convert [[INSIDE]]
// CHECK:        [[ABOVE:%\w+]] = stablehlo.compare GT, [[X]],
// CHECK-NEXT:   [[LARGEST:%\w+]] = stablehlo.constant dense<2147483647>
// CHECK-NEXT:   [[FULL:%\w+]] = stablehlo.select [[ABOVE]], [[LARGEST]], [[INT]]
// CHECK-NEXT:   [[ORDERED:%\w+]] = stablehlo.compare EQ, [[X]], [[X]]
// CHECK:        [[R:%\w+]] = stablehlo.select [[ORDERED]], [[FULL]],
// CHECK-NEXT:   return [[R]]

// An int8 has no bounds that float32 lacks: clamping is enough.
func.func @small(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
// CHECK:      func.func @small
// CHECK:        stablehlo.clamp
// CHECK-NOT:    compare GT
// CHECK:        stablehlo.compare EQ
// CHECK:        return

// Where IREE's float32 has a cure, narrower floats take it.
func.func @narrow_function(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.cbrt %x : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
// CHECK:      func.func @narrow_function([[X:%\w+]]: tensor<4xbf16>
// CHECK-NEXT:   stablehlo.convert [[X]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NOT:    stablehlo.cbrt
// CHECK:        [[R:%\w+]] = stablehlo.convert {{.*}} -> tensor<4xbf16>
// CHECK-NEXT:   return [[R]]

// log(1 + x), corrected by what 1 + x lost.
func.func @log_plus_one_of_doubles(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.log_plus_one %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
// CHECK:      func.func @log_plus_one_of_doubles([[X:%\w+]]: tensor<4xf64>
// CHECK:        [[SUM:%\w+]] = stablehlo.add [[X]],
// CHECK:        [[KEPT:%\w+]] = stablehlo.subtract [[SUM]],
// CHECK-NEXT:   [[LOG:%\w+]] = "stablehlo.map"([[SUM]])
// CHECK:        [[LOST:%\w+]] = stablehlo.divide [[X]], [[KEPT]]
// CHECK-NEXT:   stablehlo.multiply [[LOG]], [[LOST]]

// A clamp is two choices, but for bounds of zero and for unknown ones.
func.func @clamp_by_choices(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %low = stablehlo.constant dense<-2.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.clamp %zero, %x, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.clamp %low, %x, %y : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK:      func.func @clamp_by_choices([[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<f32>)
// CHECK-NOT:    stablehlo.clamp
// CHECK:        [[BELOW:%\w+]] = stablehlo.compare LT, [[X]],
// CHECK:        [[LEAST:%\w+]] = stablehlo.select [[BELOW]], {{%\w+}}, [[X]]
// CHECK:        [[ABOVE:%\w+]] = stablehlo.compare GT, [[LEAST]],
// CHECK:        stablehlo.select [[ABOVE]], {{%\w+}}, [[LEAST]]
// CHECK-COUNT-2: stablehlo.clamp
// CHECK:        return

// What IREE does right stays as it is.
func.func @untouched(%x: tensor<4xf32>, %y: tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf64>) {
  %0 = stablehlo.log_plus_one %x : tensor<4xf32>
  %1 = stablehlo.sqrt %y : tensor<4xf64>
  return %0, %1 : tensor<4xf32>, tensor<4xf64>
}
// CHECK:      func.func @untouched
// CHECK-NEXT:   stablehlo.log_plus_one
// CHECK-NEXT:   stablehlo.sqrt
// CHECK-NEXT:   return

// A number that the virtual machine may hold is handed to the device first.
func.func @convert_of_counter(%i: tensor<i32>) -> tensor<f64> {
  %0 = stablehlo.convert %i : (tensor<i32>) -> tensor<f64>
  return %0 : tensor<f64>
}
// CHECK:      func.func @convert_of_counter
// CHECK-NEXT:   [[I:%\w+]] = stablehlo.optimization_barrier %arg0
// CHECK-NEXT:   stablehlo.convert [[I]]

// A signed number that it may hold becomes an unsigned one by its bits.
func.func @unsigned_counter(%i: tensor<i32>) -> (tensor<ui32>, tensor<ui64>) {
  %0 = stablehlo.convert %i : (tensor<i32>) -> tensor<ui32>
  %1 = stablehlo.convert %i : (tensor<i32>) -> tensor<ui64>
  return %0, %1 : tensor<ui32>, tensor<ui64>
}
// CHECK:      func.func @unsigned_counter
// CHECK-NEXT:   stablehlo.bitcast_convert %arg0 : (tensor<i32>) -> tensor<ui32>
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:   stablehlo.bitcast_convert [[WIDE]] : (tensor<i64>) -> tensor<ui64>

// All float32 from 2**23 on are whole: to add that number is to round.
func.func @rounding_by_addition(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.round_nearest_even %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @rounding_by_addition
// CHECK-NOT:    stablehlo.round_nearest_even
// CHECK:        [[BIG:%\w+]] = stablehlo.constant dense<0x4B000000>
// CHECK:        [[SUM:%\w+]] = stablehlo.add {{%\w+}}, [[BIG]]
// CHECK:        stablehlo.subtract [[SUM]],
