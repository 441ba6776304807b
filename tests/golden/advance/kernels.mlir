// RUN: --pipeline "advance{kernels=true}"

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
