// Operations on constants are done at once.

// RUN: --pipeline "simplify"

// Of any size where all elements are equal: (2 + 3) stretched, reshaped and converted
func.func @splats() -> tensor<600xi32> {
  %2 = stablehlo.constant dense<2.0> : tensor<f32>
  %3 = stablehlo.constant dense<3.0> : tensor<f32>
  %a = stablehlo.add %2, %3 : tensor<f32>
  %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<20x30xf32>
  %c = stablehlo.reshape %b : (tensor<20x30xf32>) -> tensor<600xf32>
  %d = stablehlo.convert %c : (tensor<600xf32>) -> tensor<600xi32>
  return %d : tensor<600xi32>
}
// CHECK:      func.func @splats()
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<5> : tensor<600xi32>
// CHECK-NEXT:   return [[C]] : tensor<600xi32>

// The second derivative of x ** 3 has x ** (3 - 1 - 1) in it, where 3 - 1 is not 0
func.func @exponent(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<100xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<100xf32>
  %3 = stablehlo.constant dense<3.0> : tensor<100xf32>
  %a = stablehlo.subtract %3, %1 : tensor<100xf32>
  %b = stablehlo.subtract %a, %1 : tensor<100xf32>
  %c = stablehlo.power %x, %b : tensor<100xf32>
  %p = stablehlo.compare EQ, %a, %0 : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xi1>
  %d = stablehlo.select %p, %0, %c : tensor<100xi1>, tensor<100xf32>
  return %d : tensor<100xf32>
}
// CHECK:      func.func @exponent([[X:%\w+]]: tensor<100xf32>)
// CHECK-NEXT:   return [[X]] : tensor<100xf32>

// Small arrays
func.func @small() -> (tensor<3xi32>, tensor<i32>) {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %y = stablehlo.constant dense<[4, 5, 6]> : tensor<3xi32>
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %a = stablehlo.multiply %x, %y : tensor<3xi32>
  %b = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
  return %a, %b : tensor<3xi32>, tensor<i32>
}
// CHECK:      func.func @small()
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<[4, 10, 18]> : tensor<3xi32>
// CHECK-NEXT:   [[C_2:%\w+]] = stablehlo.constant dense<6> : tensor<i32>
// CHECK-NEXT:   return [[C]], [[C_2]] : tensor<3xi32>, tensor<i32>

// Not large ones: the program would grow
func.func @large() -> tensor<1000xi32> {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xi32>) -> tensor<500x2xi32>
  %z = stablehlo.reshape %y : (tensor<500x2xi32>) -> tensor<1000xi32>
  return %z : tensor<1000xi32>
}
// CHECK:      func.func @large()
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[C]], dims = [1] : (tensor<2xi32>) -> tensor<500x2xi32>
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[BROADCAST]] : (tensor<500x2xi32>) -> tensor<1000xi32>
// CHECK-NEXT:   return [[RESHAPE]] : tensor<1000xi32>
