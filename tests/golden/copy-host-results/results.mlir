// What the host returns is copied where the program may write to it.

// RUN: --pipeline "copy-host-results"

util.func private @callback(!hal.buffer_view) -> !hal.buffer_view

util.func public @updated(%a: !hal.buffer_view, %u: tensor<1xf32>, %at: index) -> tensor<8xf32> {
  %0 = util.call @callback(%a) : (!hal.buffer_view) -> !hal.buffer_view
  %1 = hal.tensor.import %0 : !hal.buffer_view -> tensor<8xf32>
  %2 = flow.tensor.update %u, %1[%at] : tensor<1xf32> -> %1 as tensor<8xf32>
  util.return %2 : tensor<8xf32>
}
// CHECK-LABEL: util.func public @updated
// CHECK:         [[MADE:%\w+]] = hal.tensor.import
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_32::@copy_32[{{%\w+}}]([[MADE]])
// CHECK:         flow.tensor.update {{%\w+}}, [[COPY]]

// A loop may write to what it begins with.
util.func public @begun(%a: !hal.buffer_view, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = util.call @callback(%a) : (!hal.buffer_view) -> !hal.buffer_view
  %1 = hal.tensor.import %0 : !hal.buffer_view -> tensor<2x4xf32>
  %2 = flow.tensor.reshape %1 : tensor<2x4xf32> -> tensor<8xf32>
  %3 = scf.for %i = %zero to %n step %one iter_args(%x = %2) -> (tensor<8xf32>) {
    %4 = flow.dispatch @k::@f(%x) : (tensor<8xf32>) -> %x
    scf.yield %4 : tensor<8xf32>
  }
  util.return %3 : tensor<8xf32>
}
// CHECK-LABEL: util.func public @begun
// CHECK:         [[MADE:%\w+]] = hal.tensor.import
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_32::@copy_32[{{%\w+}}]([[MADE]])
// CHECK:         [[FLAT:%\w+]] = flow.tensor.reshape [[COPY]]
// CHECK:         iter_args({{%\w+}} = [[FLAT]])

// What is read alone is not copied, nor is an argument: updates of these were made to copy before.
util.func public @read(%a: !hal.buffer_view, %u: tensor<1xf32>, %at: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = util.call @callback(%a) : (!hal.buffer_view) -> !hal.buffer_view
  %1 = hal.tensor.import %0 : !hal.buffer_view -> tensor<8xf32>
  %2 = flow.dispatch @k::@f(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = hal.tensor.import %a : !hal.buffer_view -> tensor<8xf32>
  %4 = flow.tensor.update %u, %3[%at] : tensor<1xf32> -> %3 as tensor<8xf32>
  util.return %2, %4 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: util.func public @read
// CHECK-NOT:     @copy_32

// Nor are arguments that come in a list: the program is given them up, or they were copied before.
util.func public @listed(%list: !util.list<?>, %u: tensor<1xf32>, %at: index) -> tensor<8xf32> {
  %0 = util.list.get %list[%at] : !util.list<?> -> !hal.buffer_view
  %1 = hal.tensor.import consume %0 : !hal.buffer_view -> tensor<8xf32>
  %2 = flow.tensor.update %u, %1[%at] : tensor<1xf32> -> %1 as tensor<8xf32>
  util.return %2 : tensor<8xf32>
}
// CHECK-LABEL: util.func public @listed
// CHECK-NOT:     @copy_32
