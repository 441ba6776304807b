// RUN: --pipeline "constant-folding{elements=100}"

// What follows from constants and iotas alone is written down, where it is used.

// CHECK-LABEL: func.func @weights
// CHECK-NEXT: %[[CST:.*]] = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 4.000000e+00]> : tensor<3xf32>
// CHECK-NEXT: stablehlo.add %arg0, %[[CST]]
// CHECK-NEXT: return
func.func @weights(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<3xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<3xf32>
  %2 = stablehlo.add %x, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}

// Equal elements are a splat, but zeros of both signs are not equal; an iota stays one.

// CHECK-LABEL: func.func @splats
// CHECK: stablehlo.constant dense<5.000000e-01> : tensor<3xf32>
// CHECK: stablehlo.constant dense<[-0.000000e+00, 0.000000e+00]>
// CHECK: stablehlo.iota
func.func @splats() -> (tensor<3xf32>, tensor<2xf32>, tensor<3xi32>) {
  %0 = stablehlo.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<3xf32>
  %2 = stablehlo.divide %1, %0 : tensor<3xf32>
  %3 = stablehlo.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %4 = stablehlo.negate %3 : tensor<2xf32>
  %5 = stablehlo.iota dim = 0 : tensor<3xi32>
  return %2, %4, %5 : tensor<3xf32>, tensor<2xf32>, tensor<3xi32>
}

// Loops stay, but what follows from constants in them is written down too.

// CHECK-LABEL: func.func @loop
// CHECK: stablehlo.while
// CHECK: stablehlo.constant dense<8.000000e+00> : tensor<f32>
// CHECK-NOT: stablehlo.power
// CHECK: stablehlo.multiply %iterArg
func.func @loop(%x: tensor<f32>) -> tensor<f32> {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.while(%iterArg = %x) : tensor<f32> cond {
    %1 = stablehlo.compare LT, %iterArg, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %three = stablehlo.constant dense<3.0> : tensor<f32>
    %1 = stablehlo.power %two, %three : tensor<f32>
    %2 = stablehlo.multiply %iterArg, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// What is larger than it may be stays, and what stands behind a barrier.

// CHECK-LABEL: func.func @others
// CHECK: stablehlo.iota
// CHECK: stablehlo.sine
// CHECK: stablehlo.optimization_barrier
func.func @others() -> (tensor<101xf32>, tensor<2xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<101xf32>
  %1 = stablehlo.sine %0 : tensor<101xf32>
  %2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = stablehlo.optimization_barrier %2 : tensor<2xf32>
  return %1, %3 : tensor<101xf32>, tensor<2xf32>
}

// Sums of windows are operations on constants too: cumsum of known lengths.

// CHECK-LABEL: func.func @sums_so_far
// CHECK-NEXT: stablehlo.constant dense<[2, 5, 9]> : tensor<3xi32>
// CHECK-NEXT: return
func.func @sums_so_far() -> tensor<3xi32> {
  %0 = stablehlo.constant dense<[2, 3, 4]> : tensor<3xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = "stablehlo.reduce_window"(%0, %1) <{padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %3 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  return %2 : tensor<3xi32>
}
