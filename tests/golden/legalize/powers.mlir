// float32: 2 ** (y log2 |x|) in float64. Then what that product cannot know of zeros, infinities
// and negative numbers.
// RUN: --pipeline "legalize{target=iree-cpu},canonicalize,cse"
func.func @power_of_floats(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.power %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @power_of_floats([[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>
// CHECK-NOT:    stablehlo.power
// CHECK:        stablehlo.map
// CHECK-SAME:   ([[X]], [[Y]])
// CHECK:        ^bb0([[A:%\w+]]: tensor<f32>, [[B:%\w+]]: tensor<f32>)
// CHECK:          [[SIZE:%\w+]] = stablehlo.abs [[A]]
// CHECK:          [[B64:%\w+]] = stablehlo.convert [[B]] : (tensor<f32>) -> tensor<f64>
// CHECK-NEXT:     stablehlo.multiply {{.*}}, [[B64]] : tensor<f64>
// CHECK:          stablehlo.floor [[B]]
// CHECK:        return

// float64: the logarithm and its product with y as sums of two numbers.
func.func @doubles(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.power %x, %y : tensor<4xf64>
  return %0 : tensor<4xf64>
}
// CHECK:      func.func @doubles([[X:%\w+]]: tensor<4xf64>, [[Y:%\w+]]: tensor<4xf64>
// CHECK-NOT:    stablehlo.log
// CHECK-NOT:    stablehlo.exponential
// CHECK:        stablehlo.map
// CHECK-SAME:   ([[X]], [[Y]])
// CHECK-NOT:      stablehlo.log
// CHECK-NOT:      stablehlo.exponential
// CHECK:        return

// A scalar needs no map.
func.func @scalar(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.power %x, %y : tensor<f64>
  return %0 : tensor<f64>
}
// CHECK:      func.func @scalar
// CHECK-NOT:    stablehlo.map
// CHECK:        return

// Integers by repeated squaring: 8 bits, 8 squares.
func.func @power_of_integers(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %0 = stablehlo.power %x, %y : tensor<4xui8>
  return %0 : tensor<4xui8>
}
// CHECK:      func.func @power_of_integers([[X:%\w+]]: tensor<4xui8>, [[Y:%\w+]]: tensor<4xui8>
// CHECK:        [[BIT:%\w+]] = stablehlo.and [[Y]],
// CHECK:        stablehlo.compare EQ, [[BIT]],
// CHECK:        [[SQUARE:%\w+]] = stablehlo.multiply [[X]], [[X]]
// CHECK:        stablehlo.multiply [[SQUARE]], [[SQUARE]]

// A third of the exponent's bits, and Newton's steps.
func.func @cube_root(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.cbrt %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @cube_root([[X:%\w+]]: tensor<4xf32>
// CHECK-NOT:    stablehlo.cbrt
// CHECK:        [[SIZE:%\w+]] = stablehlo.abs [[X]]
// CHECK-NEXT:   [[BITS:%\w+]] = stablehlo.bitcast_convert [[SIZE]]
// CHECK-NEXT:   stablehlo.divide [[BITS]],
// CHECK:        stablehlo.divide [[SIZE]],
// CHECK:        stablehlo.divide [[SIZE]],
// CHECK:        stablehlo.divide [[SIZE]],
// CHECK-NOT:    stablehlo.divide
// CHECK:        return

// Powers of two need no logarithm.
func.func @power_of_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.power %two, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @power_of_two
// CHECK-NOT:    stablehlo.divide
// CHECK:        stablehlo.bitcast_convert
// CHECK:        return

// Nor do square roots.
func.func @power_of_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.power %x, %half : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @power_of_half
// CHECK-NOT:    stablehlo.divide
// CHECK:        stablehlo.sqrt
// CHECK:        return

// Nor halves of odd numbers; in float64, to round once.
func.func @power_of_halves(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<-1.5> : tensor<4xf32>
  %1 = stablehlo.power %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK:      func.func @power_of_halves
// CHECK:        ^bb0([[X:%\w+]]: tensor<f32>)
// CHECK:          [[ROOT:%\w+]] = stablehlo.sqrt [[X]]
// CHECK:          [[NEAR:%\w+]] = stablehlo.divide
// CHECK:          [[Y:%\w+]] = stablehlo.convert [[NEAR]] : (tensor<f32>) -> tensor<f64>
// CHECK-NOT:      stablehlo.divide
// CHECK:          [[BETTER:%\w+]] = stablehlo.multiply [[Y]], {{.*}} : tensor<f64>
// CHECK:          [[OVER:%\w+]] = stablehlo.select {{.*}}, [[Y]], [[BETTER]]
// CHECK:          [[SQUARE:%\w+]] = stablehlo.multiply [[OVER]], [[OVER]]
// CHECK:          stablehlo.multiply [[SQUARE]], [[OVER]]
// CHECK:        return
