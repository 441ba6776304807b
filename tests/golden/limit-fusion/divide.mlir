// RUN: --pipeline "limit-fusion{reads=3}"

// A sum of four arrays reads three of them in one kernel, and the fourth in the next.
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.add %0, %c : tensor<4xf32>
  %2 = stablehlo.add %1, %d : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    [[S0:%\w+]] = stablehlo.add %arg0, %arg1
// CHECK-NEXT:    [[S1:%\w+]] = stablehlo.add [[S0]], %arg2
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.optimization_barrier [[S1]]
// CHECK-NEXT:    [[S2:%\w+]] = stablehlo.add [[B]], %arg3
// CHECK-NEXT:    return [[S2]]

// Constants and what was read before count for nothing, and a product is an array of its own.
func.func @few(%a: tensor<4xf32>, %b: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  %k = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.multiply %0, %k : tensor<4xf32>
  %2 = stablehlo.add %1, %a : tensor<4xf32>
  %3 = stablehlo.dot_general %w, %2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.add %3, %2 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     optimization_barrier
// CHECK:         return

// In a loop's body, where what comes from outside are arrays too.
func.func @loop(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.while(%x = %a) : tensor<4xf32>
  cond {
    %f = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %f : tensor<i1>
  } do {
    %1 = stablehlo.add %b, %c : tensor<4xf32>
    %2 = stablehlo.multiply %1, %d : tensor<4xf32>
    %3 = stablehlo.add %x, %2 : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @loop(
// CHECK:         [[P:%\w+]] = stablehlo.multiply
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.optimization_barrier [[P]]
// CHECK-NEXT:    stablehlo.add {{%\w+}}, [[B]]

// Booleans that are returned, and bytes of them, are of two kernels.
func.func @bytes(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<2x2xi1>, tensor<4xi8>) {
  %0 = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.reshape %0 : (tensor<4xi1>) -> tensor<2x2xi1>
  %2 = stablehlo.convert %0 : (tensor<4xi1>) -> tensor<4xi8>
  return %1, %2 : tensor<2x2xi1>, tensor<4xi8>
}
// CHECK-LABEL: func.func @bytes(
// CHECK-NEXT:    [[P:%\w+]] = stablehlo.compare
// CHECK-NEXT:    [[R:%\w+]] = stablehlo.reshape [[P]]
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.optimization_barrier [[P]]
// CHECK-NEXT:    stablehlo.convert [[B]]
// CHECK-NEXT:    return [[R]]

// Booleans that other elementwise operations use, and wider integers, are of one.
func.func @fused(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi8>, tensor<4xi16>) {
  %0 = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.select %0, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = stablehlo.convert %0 : (tensor<4xi1>) -> tensor<4xi8>
  %3 = stablehlo.convert %0 : (tensor<4xi1>) -> tensor<4xi16>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xi8>, tensor<4xi16>
}
// CHECK-LABEL: func.func @fused(
// CHECK-NOT:     optimization_barrier
// CHECK:         return

// IREE puts operations on single elements into one kernel, even if they have nothing in common. The
// first two of these read two arrays and give one; the third would give a fourth.
func.func @single_elements(%x: tensor<f32>, %y: tensor<1xf32>) -> (tensor<2xf32>, tensor<1xf32>) {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = stablehlo.reshape %0 : (tensor<f32>) -> tensor<1xf32>
  %2 = stablehlo.multiply %1, %y : tensor<1xf32>
  %3 = stablehlo.cosine %2 : tensor<1xf32>
  %4 = stablehlo.tanh %3 : tensor<1xf32>
  %5 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %5, %4 : tensor<2xf32>, tensor<1xf32>
}
// CHECK-LABEL: func.func @single_elements(
// CHECK-NEXT:    stablehlo.sine
// CHECK-NEXT:    stablehlo.reshape
// CHECK-NEXT:    [[P:%\w+]] = stablehlo.multiply
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.optimization_barrier [[P]]
// CHECK-NEXT:    [[C:%\w+]] = stablehlo.cosine [[B]]
// CHECK-NEXT:    [[T:%\w+]] = stablehlo.tanh [[C]]
// CHECK-NEXT:    [[J:%\w+]] = stablehlo.concatenate [[B]], [[C]]
// CHECK-NEXT:    return [[J]], [[T]]
