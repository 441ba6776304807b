// RUN: --pipeline "loops"

// Operations on few elements are one kernel, which has what the product needs; what needs the
// product comes after it, here too little for a kernel.
func.func @main(%x: tensor<4xf32>, %w: tensor<300x4xf32>) -> (tensor<300xf32>, tensor<4x2xf32>) {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.slice %0 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %2 = stablehlo.slice %0 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<3xf32>, tensor<1xf32>) -> tensor<4xf32>
  %4 = stablehlo.add %3, %x : tensor<4xf32>
  %5 = stablehlo.sine %4 : tensor<4xf32>
  %6 = stablehlo.slice %5 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %7 = stablehlo.slice %5 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %8 = stablehlo.concatenate %6, %7, dim = 0 : (tensor<3xf32>, tensor<1xf32>) -> tensor<4xf32>
  %9 = stablehlo.add %8, %x : tensor<4xf32>
  %10 = stablehlo.sine %9 : tensor<4xf32>
  %11 = stablehlo.slice %10 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %12 = stablehlo.slice %10 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %13 = stablehlo.concatenate %11, %12, dim = 0 : (tensor<3xf32>, tensor<1xf32>) -> tensor<4xf32>
  %14 = stablehlo.add %13, %x : tensor<4xf32>
  %15 = stablehlo.multiply %14, %13 : tensor<4xf32>
  %16 = stablehlo.dot_general %w, %15, contracting_dims = [1] x [0] : (tensor<300x4xf32>, tensor<4xf32>) -> tensor<300xf32>
  %17 = stablehlo.slice %16 [0:4] : (tensor<300xf32>) -> tensor<4xf32>
  %18 = stablehlo.add %17, %14 : tensor<4xf32>
  %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32>
  return %16, %19 : tensor<300xf32>, tensor<4x2xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     stablehlo
// CHECK:         [[R:%\w+]] = flow.dispatch @kernel::@kernel(%arg0) : (tensor<4xf32>) -> tensor<8xf32>
// CHECK:         [[S0:%\w+]] = stablehlo.slice [[R]] [0:4]
// CHECK:         [[A:%\w+]] = stablehlo.optimization_barrier [[S0]]
// CHECK:         [[S1:%\w+]] = stablehlo.slice [[R]] [4:8]
// CHECK:         [[B:%\w+]] = stablehlo.optimization_barrier [[S1]]
// CHECK:         [[P:%\w+]] = stablehlo.dot_general %arg1, [[B]]
// CHECK:         [[S:%\w+]] = stablehlo.slice [[P]] [0:4]
// CHECK:         stablehlo.add [[S]], [[A]]

// A few operations stay as they are.
func.func @few(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @few(
// CHECK-NEXT:    stablehlo.sine
// CHECK-NEXT:    stablehlo.add
// CHECK-NEXT:    return

// Loops over few elements are in one kernel with each other and with what is around them.
func.func @loops(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.maximum %y, %x : tensor<4xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<4xf32>
  }
  %1 = stablehlo.negate %0#1 : tensor<4xf32>
  %2:2 = stablehlo.while(%i = %zero, %y = %1) : tensor<i32>, tensor<4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.multiply %y, %x : tensor<4xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<4xf32>
  }
  return %2#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @loops(
// CHECK-NOT:     stablehlo.negate
// CHECK:         [[R:%\w+]] = flow.dispatch @kernel_1::@kernel_1(
// CHECK:         return [[R]]

// A boolean that a loop returns is not computed again outside: the loop is a kernel by itself.
func.func @truth(%x: tensor<4xf32>, %n: tensor<i32>, %b: tensor<i1>) -> (tensor<4xf32>, tensor<i1>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %n, %y = %x, %c = %b) : tensor<i32>, tensor<4xf32>, tensor<i1>
   cond {
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %i, %one : tensor<i32>
    %z = stablehlo.maximum %y, %x : tensor<4xf32>
    %d = stablehlo.compare GT, %j, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %j, %z, %d : tensor<i32>, tensor<4xf32>, tensor<i1>
  }
  return %0#1, %0#2 : tensor<4xf32>, tensor<i1>
}
// CHECK-LABEL: func.func @truth(
// CHECK-COUNT-1: flow.dispatch @kernel
// CHECK-NOT:     flow.dispatch @kernel
// CHECK:         return
