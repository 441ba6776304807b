// RUN: --pipeline "hoist-row-products{kernels=true}"

// The products of all rows would take 30 KiB, in a loop that becomes a kernel: each of ten strips of
// three steps has one of its own.
func.func @small(%xs: tensor<30x16xf32>, %w: tensor<16x256xf32>, %c: tensor<256xf32>) -> tensor<256xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<30> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<256xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 16] : (tensor<30x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %x = stablehlo.reshape %row : (tensor<1x16xf32>) -> tensor<16xf32>
    %z = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<16xf32>, tensor<16x256xf32>) -> tensor<256xf32>
    %t = stablehlo.add %y, %z : tensor<256xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<256xf32>
  }
  return %0#1 : tensor<256xf32>
}
// CHECK-LABEL: func.func @small(
// CHECK:       stablehlo.while
// CHECK:         stablehlo.dot_general {{.*}} : (tensor<3x16xf32>, tensor<16x256xf32>) -> tensor<3x256xf32>
// CHECK:         stablehlo.while

// A loop with an operation that no kernel has is left whole.
func.func @host(%xs: tensor<30x16xf32>, %w: tensor<16x256xf32>, %c: tensor<256xf32>) -> tensor<256xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<30> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %c) : tensor<i32>, tensor<256xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 16] : (tensor<30x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %x = stablehlo.reshape %row : (tensor<1x16xf32>) -> tensor<16xf32>
    %z = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<16xf32>, tensor<16x256xf32>) -> tensor<256xf32>
    %s = stablehlo.custom_call @unknown(%z) : (tensor<256xf32>) -> tensor<256xf32>
    %t = stablehlo.add %y, %s : tensor<256xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<256xf32>
  }
  return %0#1 : tensor<256xf32>
}
// CHECK-LABEL: func.func @host(
// CHECK:       stablehlo.dot_general {{.*}} : (tensor<30x16xf32>, tensor<16x256xf32>) -> tensor<30x256xf32>
// CHECK:       stablehlo.while

// The products of all rows are in the array whose rows the steps write: each is read before.
func.func @map(%xs: tensor<30x16xf32>, %w: tensor<16x64xf32>) -> tensor<30x64xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<30> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<30x64xf32>
  %0:2 = stablehlo.while(%i = %zero, %ys = %none) : tensor<i32>, tensor<30x64xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 16] : (tensor<30x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %x = stablehlo.reshape %row : (tensor<1x16xf32>) -> tensor<16xf32>
    %z = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<16xf32>, tensor<16x64xf32>) -> tensor<64xf32>
    %t = stablehlo.tanh %z : tensor<64xf32>
    %r = stablehlo.reshape %t : (tensor<64xf32>) -> tensor<1x64xf32>
    %s = stablehlo.dynamic_update_slice %ys, %r, %i, %zero : (tensor<30x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<30x64xf32>
    stablehlo.return %j, %s : tensor<i32>, tensor<30x64xf32>
  }
  return %0#1 : tensor<30x64xf32>
}
// CHECK-LABEL: func.func @map(
// CHECK:       [[ALL:%\w+]] = stablehlo.dot_general {{.*}} -> tensor<30x64xf32>
// CHECK:       stablehlo.while([[I:%\w+]] = {{%\w+}}, [[YS:%\w+]] = [[ALL]])
// CHECK:         stablehlo.dynamic_slice [[YS]], [[I]]
// CHECK:         stablehlo.dynamic_update_slice [[YS]]
