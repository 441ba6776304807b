// RUN: --pipeline "fills"

// What the loop's counter fills is used before a branch that calls the host, in it and after it: it
// is filled anew in the last two, by numbers behind barriers. So is what only the branch uses.
util.func private @host(!hal.buffer_view) -> !hal.buffer_view
util.func public @loop(%view: !hal.buffer_view, %x: tensor<i32>, %p: i1, %from: i32, %to: i32, %by: i32) -> tensor<i32> {
  %0 = scf.for %i = %from to %to step %by iter_args(%c = %x) -> (tensor<i32>) : i32 {
    %1 = flow.tensor.splat %i : tensor<i32>
    %before = flow.dispatch @k::@k(%1, %c) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = arith.addi %i, %by : i32
    %3 = flow.tensor.splat %2 : tensor<i32>
    %4 = scf.if %p -> (tensor<i32>) {
      %6 = util.call @host(%view) : (!hal.buffer_view) -> !hal.buffer_view
      %7 = hal.tensor.import %6 : !hal.buffer_view -> tensor<i32>
      scf.yield %7 : tensor<i32>
    } else {
      %6 = flow.dispatch @k::@k(%1, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      scf.yield %6 : tensor<i32>
    }
    %5 = flow.dispatch @k::@k(%1, %4, %before) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    scf.yield %5 : tensor<i32>
  }
  util.return %0 : tensor<i32>
}
// CHECK-LABEL: util.func public @loop(
// CHECK:         scf.for [[I:%\w+]] =
// CHECK-NEXT:      [[F:%\w+]] = flow.tensor.splat [[I]]
// CHECK-NEXT:      flow.dispatch @k::@k([[F]],
// CHECK-NEXT:      [[N:%\w+]] = arith.addi [[I]]
// CHECK:           else
// CHECK-DAG:         [[N2:%\w+]] = util.optimization_barrier [[N]] : i32
// CHECK-DAG:         [[G:%\w+]] = flow.tensor.splat [[N2]]
// CHECK-DAG:         [[I2:%\w+]] = util.optimization_barrier [[I]] : i32
// CHECK-DAG:         [[F2:%\w+]] = flow.tensor.splat [[I2]]
// CHECK:             flow.dispatch @k::@k([[F2]], [[G]])
// CHECK:           [[I3:%\w+]] = util.optimization_barrier [[I]] : i32
// CHECK-NEXT:      [[F3:%\w+]] = flow.tensor.splat [[I3]]
// CHECK-NEXT:      flow.dispatch @k::@k([[F3]],

// Without a call of the host, IREE is left to itself.
util.func public @pure(%x: tensor<i32>, %p: i1, %n: i32) -> tensor<i32> {
  %1 = flow.tensor.splat %n : tensor<i32>
  %2 = scf.if %p -> (tensor<i32>) {
    scf.yield %x : tensor<i32>
  } else {
    %4 = flow.dispatch @k::@k(%1, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    scf.yield %4 : tensor<i32>
  }
  %3 = flow.dispatch @k::@k(%1, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  util.return %3 : tensor<i32>
}
// CHECK-LABEL: util.func public @pure(
// CHECK-NOT:     optimization_barrier
// CHECK:         util.return
