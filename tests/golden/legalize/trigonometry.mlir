// The argument is reduced to between -pi/4 and pi/4, in two ways: near arguments by subtracting
// multiples of pi/2 in parts, far ones by the bits of 2/pi. Polynomials do the rest.
// RUN: --pipeline "legalize{target=iree-cpu},canonicalize,cse"
func.func @trigonometric_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @trigonometric_function([[X:%\w+]]: tensor<4xf32>
// CHECK-NOT:    stablehlo.sine
// CHECK:        [[R:%\w+]] = "stablehlo.map"([[X]])
// CHECK:        ^bb0([[A:%\w+]]: tensor<f32>)
// CHECK-NOT:      stablehlo.sine
// CHECK:          [[SIZE:%\w+]] = stablehlo.abs [[A]]
// CHECK:          stablehlo.round_nearest_even
// CHECK:          stablehlo.bitcast_convert [[SIZE]] : (tensor<f32>) -> tensor<ui32>
// CHECK:          stablehlo.multiply {{.*}} : tensor<ui64>
// CHECK:          stablehlo.is_finite [[A]]
// CHECK:        return [[R]]

// That of float64 is arithmetic as well.
func.func @trigonometric_function_of_doubles(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.cosine %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
// CHECK:      func.func @trigonometric_function_of_doubles([[X:%\w+]]: tensor<4xf64>
// CHECK:        [[R:%\w+]] = "stablehlo.map"([[X]])
// CHECK-NOT:      stablehlo.cosine
// CHECK:          stablehlo.multiply {{.*}} : tensor<ui64>
// CHECK:          stablehlo.return
// CHECK:        return [[R]]

// For fewer elements than vectors have, C's function is faster, but not in the body of a map.
func.func @of_few_doubles(%x: tensor<3xf64>, %y: tensor<9xf64>) -> (tensor<3xf64>, tensor<9xf64>) {
  %0 = stablehlo.sine %x : tensor<3xf64>
  %1 = "stablehlo.map"(%y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f64>):
    %2 = stablehlo.sine %a : tensor<f64>
    stablehlo.return %2 : tensor<f64>
  }) : (tensor<9xf64>) -> tensor<9xf64>
  return %0, %1 : tensor<3xf64>, tensor<9xf64>
}
// CHECK:      func.func @of_few_doubles
// CHECK:        stablehlo.sine %arg0 : tensor<3xf64>
// CHECK:        "stablehlo.map"
// CHECK-NOT:      stablehlo.sine
// CHECK:          stablehlo.multiply {{.*}} : tensor<ui64>
// CHECK:          stablehlo.return

// atan(smaller / larger), moved to the octant.
func.func @atan2_of_floats(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.atan2 %y, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @atan2_of_floats([[Y:%\w+]]: tensor<4xf32>, [[X:%\w+]]: tensor<4xf32>
// CHECK-NOT:    stablehlo.atan2
// CHECK:        [[ACROSS:%\w+]] = stablehlo.abs [[Y]]
// CHECK-NEXT:   [[ALONG:%\w+]] = stablehlo.abs [[X]]
// CHECK-NEXT:   [[STEEP:%\w+]] = stablehlo.compare GT, [[ACROSS]], [[ALONG]]
// CHECK-NEXT:   [[SMALL:%\w+]] = stablehlo.select [[STEEP]], [[ALONG]], [[ACROSS]]
// CHECK-NEXT:   [[LARGE:%\w+]] = stablehlo.select [[STEEP]], [[ACROSS]], [[ALONG]]
// CHECK:        stablehlo.divide [[SMALL]], [[LARGE]]
// CHECK:        [[BITS:%\w+]] = stablehlo.bitcast_convert [[Y]]
// CHECK:        [[NEGATIVE:%\w+]] = stablehlo.compare LT, [[BITS]],
// CHECK:        stablehlo.select [[NEGATIVE]],

// That of float64 is arithmetic in one operation, which becomes vectors.
func.func @atan2_of_doubles(%y: tensor<4xf64>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.atan2 %y, %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
// CHECK:      func.func @atan2_of_doubles
// CHECK:        [[R:%\w+]] = "stablehlo.map"(%arg0, %arg1)
// CHECK-NOT:      stablehlo.atan2
// CHECK:          stablehlo.divide
// CHECK:          stablehlo.return
// CHECK:        return [[R]]
