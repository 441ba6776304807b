// RUN: --pipeline "loops"

// A cumulative sum in a loop is a loop within the kernel, which carries the sum so far.
func.func @sums(%x: tensor<300xf32>) -> tensor<300xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<300xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = "stablehlo.reduce_window"(%y, %start) <{padding = dense<[[299, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 300>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %3 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<300xf32>, tensor<f32>) -> tensor<300xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<300xf32>
  }
  return %0#1 : tensor<300xf32>
}
// CHECK:      scf.while
// CHECK:        scf.for {{.*}} iter_args([[SUM:%\w+]] = {{%\w+}}) -> (f32)
// CHECK:          [[X:%\w+]] = memref.load
// CHECK:          [[NEW:%\w+]] = arith.addf [[SUM]], [[X]]
// CHECK:          memref.store [[NEW]]
// CHECK-NEXT:     scf.yield [[NEW]]
// CHECK:      func.func @sums
// CHECK:        flow.dispatch @kernel
// CHECK-NOT:    stablehlo.while
