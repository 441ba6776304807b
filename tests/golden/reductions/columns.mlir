// RUN: --pipeline "reductions{workers=1}"

// Rows are added to accumulators, four at a time. A mask leaves out the columns that a vector has
// too many.
func.func @main(%x: tensor<1000x77xf32>, %y: tensor<1000x77xf32>) -> (tensor<77xf32>, tensor<77xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000x77xf32>, tensor<f32>) -> tensor<77xf32>
  %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000x77xf32>, tensor<f32>) -> tensor<77xf32>
  return %0, %1 : tensor<77xf32>, tensor<77xf32>
}
// Equal kernels are one executable.
// CHECK:       stream.executable private @reduction {
// CHECK:         memref.alloca() alignment = 64 : memref<80xf32>
// CHECK-COUNT-4: vector.maskedload {{.*}} : memref<77000xf32
// CHECK-NOT:   stream.executable
// CHECK:       func.func @main(
// CHECK:         flow.dispatch @reduction::@reduction(%arg0)
// CHECK:         flow.dispatch @reduction::@reduction(%arg1)

// What is left to IREE: few elements, short rows, complex numbers, other computations.
func.func @others(%x: tensor<10xf32>, %y: tensor<1000x3xf32>, %z: tensor<1000xcomplex<f32>>, %i: tensor<1000xi32>) -> (tensor<f32>, tensor<1000xf32>, tensor<complex<f32>>, tensor<f32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1000x3xf32>, tensor<f32>) -> tensor<1000xf32>
  %2 = stablehlo.reduce(%z init: %none) applies stablehlo.add across dimensions = [0] : (tensor<1000xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %f = stablehlo.convert %i : (tensor<1000xi32>) -> tensor<1000xf32>
  %3:2 = stablehlo.reduce(%f init: %zero), (%i init: %first) across dimensions = [0] : (tensor<1000xf32>, tensor<1000xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %sum = stablehlo.add %a, %b : tensor<f32>
      %product = stablehlo.multiply %c, %d : tensor<i32>
      stablehlo.return %sum, %product : tensor<f32>, tensor<i32>
    }
  return %0, %1, %2, %3#0, %3#1 : tensor<f32>, tensor<1000xf32>, tensor<complex<f32>>, tensor<f32>, tensor<i32>
}
// CHECK:       func.func @others(
// CHECK-NOT:     flow.dispatch
// CHECK-COUNT-4: stablehlo.reduce
// CHECK-NOT:     flow.dispatch

// A value that is there too late stays outside, and so does what depends on it.
func.func @late(%x: tensor<1000x160xf32>, %y: tensor<160xf32>) -> tensor<1000x160xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000x160xf32>, tensor<f32>) -> tensor<160xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<160xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<160xf32>
  %3 = stablehlo.multiply %0, %y : tensor<160xf32>
  %4 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<160xf32>) -> tensor<1000x160xf32>
  %5 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<160xf32>) -> tensor<1000x160xf32>
  %6 = stablehlo.add %4, %5 : tensor<1000x160xf32>
  return %6 : tensor<1000x160xf32>
}
// CHECK:       func.func @late(
// CHECK:         [[R:%\w+]]:2 = flow.dispatch @reduction_1::@reduction_1(%arg0, %arg1)
// CHECK-NEXT:    [[A:%\w+]] = stablehlo.reverse
// CHECK-NEXT:    [[B:%\w+]] = stablehlo.multiply {{%.*}}, [[A]]
// CHECK:         stablehlo.add
