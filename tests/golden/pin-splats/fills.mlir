// RUN: --pipeline "pin-splats"

// What the loop's counter fills is used before a branch that calls the host, in it and after it: it
// goes through a kernel that does nothing. What only the branch uses does not.
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
// CHECK-NEXT:      [[H:%\w+]] = flow.dispatch @after_0::@after_0([[F]]) : (tensor<i32>) -> [[F]]
// CHECK-NEXT:      flow.dispatch @k::@k([[H]],
// CHECK-NEXT:      [[N:%\w+]] = arith.addi [[I]]
// CHECK-NEXT:      [[G:%\w+]] = flow.tensor.splat [[N]]
// CHECK:           else
// CHECK-NEXT:        flow.dispatch @k::@k([[H]], [[G]])
// CHECK:           flow.dispatch @k::@k([[H]],

// Without a call of the host, it is so for what is used twice in a block, in whatever shape, and
// once more in a loop or branch.
util.func public @table(%x: tensor<i32>, %p: i1, %i: i32) -> tensor<i32> {
  %1 = flow.tensor.splat %i : tensor<1xi32>
  %2 = flow.tensor.reshape %1 : tensor<1xi32> -> tensor<i32>
  %3 = flow.dispatch @k::@k(%2, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %4 = scf.if %p -> (tensor<i32>) {
    scf.yield %x : tensor<i32>
  } else {
    %6 = flow.dispatch @k::@k(%2, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    scf.yield %6 : tensor<i32>
  }
  %5 = flow.dispatch @k::@k(%2, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  util.return %5 : tensor<i32>
}
// CHECK-LABEL: util.func public @table(
// CHECK:         [[M:%\w+]] = flow.tensor.splat
// CHECK-NEXT:    [[A:%\w+]] = flow.dispatch @after_0::@after_0([[M]]) : (tensor<1xi32>) -> [[M]]
// CHECK-NEXT:    flow.tensor.reshape [[A]]

// What is used once in the block is in one group of kernels there, and IREE is left to itself.
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
// CHECK-NOT:     after_0
// CHECK:         util.return

// So are constants of one number throughout, if kernels use them.
util.func public @constant(%x: tensor<i32>, %p: i1) -> tensor<i32> {
  %0 = arith.constant dense<7> : tensor<i32>
  %1 = arith.constant dense<8> : tensor<i32>
  %2 = flow.dispatch @k::@k(%0, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %3 = scf.if %p -> (tensor<i32>) {
    scf.yield %1 : tensor<i32>
  } else {
    %5 = flow.dispatch @k::@k(%0, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    scf.yield %5 : tensor<i32>
  }
  %4 = flow.dispatch @k::@k(%0, %3, %1) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  util.return %4 : tensor<i32>
}
// CHECK-LABEL: util.func public @constant(
// CHECK:         [[C:%\w+]] = arith.constant dense<7>
// CHECK-NEXT:    [[P:%\w+]] = flow.dispatch @after_0::@after_0([[C]])
// CHECK-NEXT:    [[D:%\w+]] = arith.constant dense<8>
// CHECK-NEXT:    flow.dispatch @k::@k([[P]], [[D]])

// Of complex numbers, too.
util.func public @complex(%x: tensor<2xcomplex<f32>>, %p: i1) -> tensor<2xcomplex<f32>> {
  %0 = arith.constant dense<(7.0, 0.0)> : tensor<2xcomplex<f32>>
  %1 = arith.constant dense<[(7.0, 0.0), (8.0, 0.0)]> : tensor<2xcomplex<f32>>
  %2 = flow.dispatch @k::@k(%0, %1) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %3 = scf.if %p -> (tensor<2xcomplex<f32>>) {
    %5 = flow.dispatch @k::@k(%0, %1) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    scf.yield %5 : tensor<2xcomplex<f32>>
  } else {
    scf.yield %x : tensor<2xcomplex<f32>>
  }
  %4 = flow.dispatch @k::@k(%0, %3, %1) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  util.return %4 : tensor<2xcomplex<f32>>
}
// CHECK-LABEL: util.func public @complex(
// CHECK:         [[C:%\w+]] = arith.constant dense<(7
// CHECK-NEXT:    [[P:%\w+]] = flow.dispatch @after_0::@after_0([[C]])
// CHECK-NEXT:    [[D:%\w+]] = arith.constant dense<[(7
// CHECK-NEXT:    flow.dispatch @k::@k([[P]], [[D]])
