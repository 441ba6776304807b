// RUN: --pipeline "nested-constants"

// Of what nested branches choose from, constants are copied, in whichever branch they are. The
// second result is chosen by one branch alone.
util.global private @two = dense<2> : tensor<2xi32>
util.func public @chosen(%x: tensor<2xi32>, %p: i1, %q: i1) -> (tensor<2xi32>, tensor<2xi32>) {
  %two = util.global.load immutable @two : tensor<2xi32>
  %0:2 = scf.if %p -> (tensor<2xi32>, tensor<2xi32>) {
    %1:2 = scf.if %q -> (tensor<2xi32>, tensor<2xi32>) {
      %2 = flow.dispatch @k::@k(%x) : (tensor<2xi32>) -> tensor<2xi32>
      scf.yield %2, %x : tensor<2xi32>, tensor<2xi32>
    } else {
      scf.yield %two, %two : tensor<2xi32>, tensor<2xi32>
    }
    %3 = flow.dispatch @k::@k(%1#1) : (tensor<2xi32>) -> tensor<2xi32>
    scf.yield %1#0, %3 : tensor<2xi32>, tensor<2xi32>
  } else {
    %four = flow.tensor.constant dense<4> : tensor<2xi32>
    scf.yield %four, %two : tensor<2xi32>, tensor<2xi32>
  }
  util.return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
}
// CHECK-LABEL: util.func public @chosen(
// CHECK:         [[TWO:%\w+]] = util.global.load immutable @two
// CHECK:         scf.if
// CHECK:           scf.if
// CHECK:             [[K:%\w+]] = flow.dispatch @k::@k
// CHECK-NEXT:        scf.yield [[K]], %
// CHECK:           else
// CHECK:             [[COPY:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[TWO]])
// CHECK-NEXT:        scf.yield [[COPY]], [[TWO]]
// CHECK:         else
// CHECK-NEXT:      [[FOUR:%\w+]] = flow.tensor.constant
// CHECK:           [[OTHER:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[FOUR]])
// CHECK-NEXT:      scf.yield [[OTHER]], [[TWO]]

// What comes from outside is no constant.
util.func public @outside(%view: !hal.buffer_view, %p: i1) -> tensor<2xi32> {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<2xi32>
  %0 = scf.if %p -> (tensor<2xi32>) {
    scf.yield %x : tensor<2xi32>
  } else {
    %four = flow.tensor.constant dense<4> : tensor<2xi32>
    scf.yield %four : tensor<2xi32>
  }
  util.return %0 : tensor<2xi32>
}
// CHECK-LABEL: util.func public @outside(
// CHECK:         else
// CHECK-NEXT:      [[FOUR:%\w+]] = flow.tensor.constant
// CHECK:           [[COPY:%\w+]] = flow.dispatch @copy_8::@copy_8[{{.*}}]([[FOUR]])
// CHECK-NEXT:      scf.yield [[COPY]]
