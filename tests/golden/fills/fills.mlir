// RUN: --pipeline "fills"

// What the loop's counter fills is used before a branch that calls the host, in it and after it: it
// is behind a barrier. What is used in one place is not.
util.func private @host(!hal.buffer_view) -> !hal.buffer_view
util.func public @loop(%view: !hal.buffer_view, %x: tensor<i32>, %p: i1, %from: i32, %to: i32, %by: i32) -> tensor<i32> {
  %0 = scf.for %i = %from to %to step %by iter_args(%c = %x) -> (tensor<i32>) : i32 {
    %1 = flow.tensor.splat %i : tensor<i32>
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
    %5 = flow.dispatch @k::@k(%1, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    scf.yield %5 : tensor<i32>
  }
  util.return %0 : tensor<i32>
}
// CHECK-LABEL: util.func public @loop(
// CHECK:         [[F:%\w+]] = flow.tensor.splat
// CHECK-NEXT:    [[B:%\w+]] = flow.tensor.barrier [[F]]
// CHECK:         [[G:%\w+]] = flow.tensor.splat
// CHECK-NOT:     flow.tensor.barrier
// CHECK:         flow.dispatch @k::@k([[B]], [[G]])
// CHECK:         flow.dispatch @k::@k([[B]],

// A kernel of no arrays is made anew, too, and so is a constant of equal elements. Both are used
// before and after a call here, as are other elements; the second array of the kernel just after it.
util.func public @straight(%view: !hal.buffer_view, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %constant = arith.constant dense<3> : tensor<4xi32>
  %others = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = flow.dispatch @iota::@iota[%n](%n) : (index) -> tensor<4xi32>
  %1 = flow.dispatch @iota::@iota[%n](%n) : (index) -> tensor<4xi32>
  %2 = flow.dispatch @k::@k(%0, %constant, %others) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %3 = util.call @host(%view) : (!hal.buffer_view) -> !hal.buffer_view
  %4 = flow.dispatch @k::@k(%0, %constant, %others) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %5 = flow.dispatch @k::@k(%1, %2) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  util.return %4, %5 : tensor<4xi32>, tensor<4xi32>
}
// CHECK-LABEL: util.func public @straight(
// CHECK:         [[C:%\w+]] = flow.tensor.barrier %cst
// CHECK:         [[I:%\w+]] = flow.dispatch @iota
// CHECK-NEXT:    [[B:%\w+]] = flow.tensor.barrier [[I]]
// CHECK-NEXT:    [[J:%\w+]] = flow.dispatch @iota
// CHECK-NEXT:    flow.dispatch @k::@k([[B]], [[C]], %cst_0)
// CHECK:         flow.dispatch @k::@k([[B]], [[C]], %cst_0)
// CHECK-NEXT:    flow.dispatch @k::@k([[J]],

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
// CHECK-NOT:     flow.tensor.barrier
// CHECK:         util.return
