// RUN: --pipeline "elementwise,donation"

// A step of an optimizer writes over what it is given up. The kernel has no binding for its results.
func.func @step(%p: tensor<128x256xf32> {iree.abi.consume}, %m: tensor<128x256xf32> {iree.abi.consume}, %g: tensor<128x256xf32>, %r: tensor<f32>) -> (tensor<128x256xf32>, tensor<128x256xf32>) {
  %0 = stablehlo.add %m, %g : tensor<128x256xf32>
  %1 = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<128x256xf32>
  %3 = stablehlo.subtract %p, %2 : tensor<128x256xf32>
  return %3, %0 : tensor<128x256xf32>, tensor<128x256xf32>
}
// CHECK-LABEL: func.func @elementwise(%arg0: !stream.binding, %arg1: !stream.binding, %arg2: !stream.binding, %arg3: !stream.binding)
// CHECK:       func.func @step({{.*}}irax.donated = "0,1", irax.in_place = "0,1", irax.own = "0,1"
// CHECK:         [[R:%\w+]]:2 = flow.dispatch @elementwise::@elementwise({{.*}}) : ({{.*}}) -> (%arg{{[01]}}, %arg{{[01]}})
// CHECK-NEXT:    return

// Elements beside whole vectors would be computed twice, from what was written.
func.func @odd(%p: tensor<49999xf32> {iree.abi.consume}) -> tensor<49999xf32> {
  %0 = stablehlo.add %p, %p : tensor<49999xf32>
  return %0 : tensor<49999xf32>
}
// CHECK:       func.func @odd(
// CHECK:         stablehlo.add

// What reads the array too would read what was written.
func.func @read(%p: tensor<16384xf32> {iree.abi.consume}, %i: tensor<i32>) -> (tensor<16384xf32>, tensor<1xf32>) {
  %0 = stablehlo.add %p, %p : tensor<16384xf32>
  %1 = stablehlo.dynamic_slice %p, %i, sizes = [1] : (tensor<16384xf32>, tensor<i32>) -> tensor<1xf32>
  return %0, %1 : tensor<16384xf32>, tensor<1xf32>
}
// CHECK:       func.func @read(
// CHECK:         stablehlo.add

// A vector of the result needs elements that were written before.
func.func @reversed(%p: tensor<16384xf32> {iree.abi.consume}) -> tensor<16384xf32> {
  %0 = stablehlo.reverse %p, dims = [0] : tensor<16384xf32>
  %1 = stablehlo.add %p, %0 : tensor<16384xf32>
  return %1 : tensor<16384xf32>
}
// CHECK:       func.func @reversed(
// CHECK-NOT:     in_place
// CHECK:         flow.dispatch {{.*}} -> tensor<16384xf32>

// It is no step of a loop, which would begin with what the one before has written.
func.func @in_loop(%p: tensor<16384xf32> {iree.abi.consume}, %n: tensor<i32>) -> tensor<16384xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %first = stablehlo.constant dense<0.0> : tensor<16384xf32>
  %0:2 = stablehlo.while(%k = %zero, %c = %first) : tensor<i32>, tensor<16384xf32>
  cond {
    %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %c, %p : tensor<16384xf32>
    %2 = stablehlo.multiply %1, %1 : tensor<16384xf32>
    %3 = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<16384xf32>
  }
  return %0#1 : tensor<16384xf32>
}
// CHECK:       func.func @in_loop(
// CHECK-NOT:     in_place
// CHECK:         stablehlo.multiply
