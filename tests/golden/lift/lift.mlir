// RUN: --pipeline "lift"

// Arrays pass barriers, in loops and branches too.
util.func public @arrays(%x: tensor<4xf32>, %y: tensor<i1>, %p: i1) -> tensor<4xf32> {
  %0:2 = util.optimization_barrier %x, %y : tensor<4xf32>, tensor<i1>
  %1 = scf.if %p -> (tensor<4xf32>) {
    %2 = util.optimization_barrier %0#0 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    %2 = flow.dispatch @k::@k(%0#0, %0#1) : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  util.return %1 : tensor<4xf32>
}
// CHECK-LABEL: util.func public @arrays(
// CHECK-SAME:    [[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<i1>
// CHECK-NOT:     optimization_barrier
// CHECK:         scf.yield [[X]]
// CHECK:         flow.dispatch @k::@k([[X]], [[Y]])

// A barrier on a number stays: there is no memory in it.
util.func public @number(%n: index) -> index {
  %0 = util.optimization_barrier %n : index
  util.return %0 : index
}
// CHECK-LABEL: util.func public @number(
// CHECK-NEXT:    util.optimization_barrier
