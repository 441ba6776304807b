// Forward mode of comparing and choosing. Comparisons have no tangent; select chooses between
// tangents by the same predicate.

// d select(p, x, y) = select(p, dx, dy)
// RUN: --pipeline "jvp{func=select}"
func.func @select(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @select.jvp([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[DY:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare LT, [[X]], [[Y]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE]], [[X]], [[Y]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   [[SELECT_2:%\w+]] = stablehlo.select [[COMPARE]], [[DX]], [[DY]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   return [[SELECT]], [[SELECT_2]] : tensor<4xf32>, tensor<4xf32>

// relu: d select(x > 0, x, 0) = select(x > 0, dx, 0)
// RUN: --pipeline "jvp{func=relu},cse"
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %p = stablehlo.compare GT, %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = stablehlo.select %p, %x, %0 : tensor<4xi1>, tensor<4xf32>
  return %z : tensor<4xf32>
}
// CHECK:      func.func @relu.jvp([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare GT, [[X]], [[ZERO]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE]], [[X]], [[ZERO]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   [[SELECT_2:%\w+]] = stablehlo.select [[COMPARE]], [[DX]], [[ZERO]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   return [[SELECT]], [[SELECT_2]] : tensor<4xf32>, tensor<4xf32>

// clamp(l, x, h) moves with x where l <= x <= h, and stands still elsewhere
// RUN: --pipeline "jvp{func=clamp wrt=1},cse"
func.func @clamp(%l: tensor<f32>, %x: tensor<4xf32>, %h: tensor<f32>) -> tensor<4xf32> {
  %y = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @clamp.jvp([[L:%\w+]]: tensor<f32>,
// CHECK-SAME:   [[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[H:%\w+]]: tensor<f32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[CLAMP:%\w+]] = stablehlo.clamp [[L]], [[X]], [[H]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[L]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:   [[BROADCAST_2:%\w+]] = stablehlo.broadcast_in_dim [[H]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[COMPARE:%\w+]] = stablehlo.compare GT, [[X]], [[BROADCAST]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:   [[COMPARE_2:%\w+]] = stablehlo.compare LT, [[X]], [[BROADCAST_2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:   [[SELECT:%\w+]] = stablehlo.select [[COMPARE_2]], [[DX]], [[ZERO]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   [[SELECT_2:%\w+]] = stablehlo.select [[COMPARE]], [[SELECT]], [[ZERO]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:   return [[CLAMP]], [[SELECT_2]] : tensor<4xf32>, tensor<4xf32>
