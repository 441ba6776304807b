// RUN: --pipeline "remove-fusion-barriers"

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

// Without its barrier, a result would come from outside of both branches: a kernel makes it in one.
// One that is the same in both is that.
util.func public @branch(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = scf.if %p -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %x, %y : tensor<4xf32>, tensor<4xf32>
  } else {
    %1:2 = util.optimization_barrier %y, %y : tensor<4xf32>, tensor<4xf32>
    scf.yield %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
  }
  util.return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: util.func public @branch(
// CHECK-SAME:    [[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>
// CHECK:         [[R:%\w+]]:2 = scf.if
// CHECK-NEXT:      [[A:%\w+]] = flow.dispatch @after_0::@after_0([[X]]) : (tensor<4xf32>) -> [[X]]
// CHECK-NEXT:      scf.yield [[A]], [[Y]]
// CHECK:         util.return [[R]]#0, [[Y]]

// IREE has made a select of a branch before: it is one again.
util.func public @select(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: i1, %i: index, %j: index) -> (tensor<4xf32>, index) {
  %0 = arith.select %p, %x, %y : tensor<4xf32>
  %1 = arith.select %p, %i, %j : index
  util.return %0, %1 : tensor<4xf32>, index
}
// CHECK-LABEL: util.func public @select(
// CHECK-SAME:    [[X:%\w+]]: tensor<4xf32>, [[Y:%\w+]]: tensor<4xf32>, [[P:%\w+]]: i1
// CHECK-NEXT:    scf.if [[P]] -> (tensor<4xf32>)
// CHECK-NEXT:      [[A:%\w+]] = flow.dispatch @after_0::@after_0([[X]]) : (tensor<4xf32>) -> [[X]]
// CHECK-NEXT:      scf.yield [[A]]
// CHECK:           scf.yield [[Y]]
// CHECK:         arith.select [[P]], {{.*}} : index
