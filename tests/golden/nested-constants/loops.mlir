// RUN: --pipeline "nested-constants"

// A loop in a branch shows the host what it carries: it begins with a copy.
util.func public @told(%view: !hal.buffer_view, %p: i1) -> tensor<2xi32> {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<2xi32>
  %0 = scf.if %p -> (tensor<2xi32>) {
    %1 = scf.while (%y = %x) : (tensor<2xi32>) -> tensor<2xi32> {
      %2 = hal.tensor.export %y : tensor<2xi32> -> !hal.buffer_view
      %3 = util.call @host(%2) : (!hal.buffer_view) -> i1
      scf.condition(%3) %y : tensor<2xi32>
    } do {
    ^bb0(%y: tensor<2xi32>):
      %2 = flow.dispatch @k::@k(%y) : (tensor<2xi32>) -> tensor<2xi32>
      scf.yield %2 : tensor<2xi32>
    }
    scf.yield %1 : tensor<2xi32>
  } else {
    %1 = flow.dispatch @k::@k(%x) : (tensor<2xi32>) -> tensor<2xi32>
    scf.yield %1 : tensor<2xi32>
  }
  util.return %0 : tensor<2xi32>
}
util.func private @host(!hal.buffer_view) -> i1
// CHECK-LABEL: util.func public @told(
// CHECK:         [[X:%\w+]] = hal.tensor.import
// CHECK:         scf.if
// CHECK:           [[COPY:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[X]])
// CHECK-NEXT:      scf.while ({{%\w+}} = [[COPY]])

// So does a counted loop; and where the host is told in loops, branches choose no constants.
util.func public @counted(%view: !hal.buffer_view, %p: i1, %n: i32) -> tensor<2xi32> {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<2xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = flow.tensor.constant dense<4> : tensor<2xi32>
  %0 = scf.if %p -> (tensor<2xi32>) {
    %1 = scf.for %i = %zero to %n step %one iter_args(%y = %four) -> (tensor<2xi32>) : i32 {
      %2 = hal.tensor.export %y : tensor<2xi32> -> !hal.buffer_view
      %3 = util.call @array(%2) : (!hal.buffer_view) -> !hal.buffer_view
      %4 = hal.tensor.import %3 : !hal.buffer_view -> tensor<2xi32>
      scf.yield %4 : tensor<2xi32>
    }
    scf.yield %1 : tensor<2xi32>
  } else {
    scf.yield %four : tensor<2xi32>
  }
  util.return %0 : tensor<2xi32>
}
util.func private @array(!hal.buffer_view) -> !hal.buffer_view
// CHECK-LABEL: util.func public @counted(
// CHECK:         [[FOUR:%\w+]] = flow.tensor.constant
// CHECK:         scf.if
// CHECK:           [[COPY:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[FOUR]])
// CHECK-NEXT:      scf.for {{.*}}iter_args({{%\w+}} = [[COPY]])
// CHECK:         else
// CHECK:           [[OTHER:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[FOUR]])
// CHECK-NEXT:      scf.yield [[OTHER]]

// Where the host is told in branches, these choose no argument as it is.
util.func public @given(%view: !hal.buffer_view, %p: i1) -> tensor<2xi32> {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<2xi32>
  %0 = scf.if %p -> (tensor<2xi32>) {
    %1 = hal.tensor.export %x : tensor<2xi32> -> !hal.buffer_view
    %2 = util.call @host(%1) : (!hal.buffer_view) -> i1
    scf.yield %x : tensor<2xi32>
  } else {
    %1 = flow.dispatch @k::@k(%x) : (tensor<2xi32>) -> tensor<2xi32>
    scf.yield %1 : tensor<2xi32>
  }
  util.return %0 : tensor<2xi32>
}
// CHECK-LABEL: util.func public @given(
// CHECK:         [[X:%\w+]] = hal.tensor.import
// CHECK:         scf.if
// CHECK:           util.call @host
// CHECK:           [[COPY:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[X]])
// CHECK-NEXT:      scf.yield [[COPY]]

// Nor do loops yield a constant as it is there.
util.func public @yielded(%view: !hal.buffer_view, %n: i32) -> tensor<2xi32> {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<2xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = flow.tensor.constant dense<4> : tensor<2xi32>
  %0 = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> (tensor<2xi32>) : i32 {
    %1 = hal.tensor.export %y : tensor<2xi32> -> !hal.buffer_view
    %2 = util.call @host(%1) : (!hal.buffer_view) -> i1
    scf.yield %four : tensor<2xi32>
  }
  util.return %0 : tensor<2xi32>
}
// CHECK-LABEL: util.func public @yielded(
// CHECK:         [[FOUR:%\w+]] = flow.tensor.constant
// CHECK:         scf.for
// CHECK:           [[COPY:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[FOUR]])
// CHECK-NEXT:      scf.yield [[COPY]]
