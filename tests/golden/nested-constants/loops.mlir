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
