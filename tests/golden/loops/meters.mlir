// RUN: --pipeline "annotate,loops"

// A loop that need not end takes its steps from a meter, whose address the runtime knows.
func.func public @newton(%x: tensor<f32>) -> tensor<f32> {
  %least = stablehlo.constant dense<1.0e-3> : tensor<f32>
  %0 = stablehlo.while(%y = %x) : tensor<f32>
  cond {
    %p = stablehlo.compare GT, %y, %least : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = stablehlo.multiply %y, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME:      [[METER:%\w+]]: i64)
// CHECK:         [[PLACE:%\w+]] = llvm.inttoptr [[METER]] : i64 to !llvm.ptr
// CHECK:         [[ALL:%\w+]] = llvm.load [[PLACE]]
// CHECK:         [[END:%\w+]]:2 = scf.while (%{{.*}} = %{{.*}}, [[LEFT:%\w+]] = [[ALL]])
// CHECK:           [[HOLDS:%\w+]] = arith.cmpf ogt
// CHECK:           [[IS_LEFT:%\w+]] = arith.cmpi sgt, [[LEFT]]
// CHECK:           [[GOES_ON:%\w+]] = arith.andi [[IS_LEFT]], [[HOLDS]]
// CHECK:           scf.condition([[GOES_ON]])
// CHECK:         ^bb0({{.*}}, [[NOW:%\w+]]: i64):
// CHECK:           [[REST:%\w+]] = arith.subi [[NOW]]
// CHECK:           scf.yield {{.*}}, [[REST]]
// CHECK:         llvm.store [[END]]#1, [[PLACE]]
// CHECK:       func.func public @newton(
// CHECK-SAME:      irax.takes = "metered"
// CHECK:         [[ADDRESS:%\w+]] = call @irax_host.meter() : () -> i64
// CHECK:         flow.dispatch @kernel::@kernel({{.*}}, [[ADDRESS]])

// A loop with a known end does not.
func.func public @counted(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.multiply %y, %y : tensor<f32>
    stablehlo.return %j, %z : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
// CHECK-LABEL: func.func public @counted(
// CHECK-SAME:      irax.takes = "moments"
// CHECK-NOT:     call
