// Forward mode of changing dtype. Only floats and complex numbers have tangents.

// d convert(x) = convert(dx)
// RUN: --pipeline "jvp{func=widen}"
func.func @widen(%x: tensor<4xbf16>) -> tensor<4xf32> {
  %y = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @widen.jvp([[X:%\w+]]: tensor<4xbf16>, [[DX:%\w+]]: tensor<4xbf16>)
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[X]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT:   [[CONVERT_2:%\w+]] = stablehlo.convert [[DX]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT:   return [[CONVERT]], [[CONVERT_2]] : tensor<4xf32>, tensor<4xf32>

// What goes through integers is constant between jumps: x * float(int(x)) has the tangent
// dx * float(int(x)).
// RUN: --pipeline "jvp{func=truncate}"
func.func @truncate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %i = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  %f = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
  %y = stablehlo.multiply %x, %f : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @truncate.jvp([[X:%\w+]]: tensor<4xf32>, [[DX:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   [[CONVERT:%\w+]] = stablehlo.convert [[X]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT:   [[CONVERT_2:%\w+]] = stablehlo.convert [[CONVERT]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY:%\w+]] = stablehlo.multiply [[X]], [[CONVERT_2]] : tensor<4xf32>
// CHECK-NEXT:   [[MULTIPLY_2:%\w+]] = stablehlo.multiply [[DX]], [[CONVERT_2]] : tensor<4xf32>
// CHECK-NEXT:   return [[MULTIPLY]], [[MULTIPLY_2]] : tensor<4xf32>, tensor<4xf32>
