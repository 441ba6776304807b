// RUN: --pipeline "pin-update-sources"

flow.executable private @k {
  flow.executable.export public @f
}
util.func private @host(%a: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub}

// Both kernels may write to their places in the new array, which nothing else uses.
util.func public @concatenate(%a: tensor<4xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %x = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = flow.dispatch @k::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %new = flow.tensor.empty : tensor<8xf32>
  %0 = flow.tensor.update %y, %new[%c0] : tensor<4xf32> -> %new as tensor<8xf32>
  %z = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = flow.tensor.update %z, %0[%c4] : tensor<4xf32> -> %0 as tensor<8xf32>
  util.return %1 : tensor<8xf32>
}
// CHECK-LABEL: util.func public @concatenate
// CHECK-NOT:     flow.tensor.barrier
// CHECK:         util.return

// Two arrays that begin empty are not in the same memory.
util.func public @two(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %new = flow.tensor.empty : tensor<8xf32>
  %x = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = flow.dispatch @k::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = flow.tensor.update %x, %new[%c0] : tensor<4xf32> -> %new as tensor<8xf32>
  %1 = flow.tensor.update %y, %new[%c4] : tensor<4xf32> -> %new as tensor<8xf32>
  util.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: util.func public @two
// CHECK-COUNT-2: flow.tensor.empty
// CHECK-NOT:     flow.tensor.barrier
// CHECK:         util.return

// The branch, which is in what %d is written to, would be moved before %d, and so before %r.
util.func public @branch(%a: tensor<4xf32>, %p: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %r = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t = scf.if %p -> (tensor<4xf32>) {
    %0 = flow.dispatch @k::@f(%r) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  %new = flow.tensor.empty : tensor<8xf32>
  %1 = flow.tensor.update %t, %new[%c0] : tensor<4xf32> -> %new as tensor<8xf32>
  %2 = flow.tensor.update %d, %1[%c4] : tensor<4xf32> -> %1 as tensor<8xf32>
  util.return %2 : tensor<8xf32>
}
// CHECK-LABEL: util.func public @branch
// CHECK:         [[D:%\w+]] = flow.dispatch @k::@f
// CHECK:         [[NEW:%\w+]] = flow.tensor.empty
// CHECK-NEXT:    [[ONE:%\w+]] = flow.tensor.update {{%\w+}}, [[NEW]]
// CHECK-NEXT:    [[B:%\w+]] = flow.tensor.barrier [[D]] : tensor<4xf32> on #hal.device.promise<@__device_0>
// CHECK-NEXT:    flow.tensor.update [[B]], [[ONE]]

// So would it for both kernels: the place of the second is an update that has a barrier already.
util.func public @branch_twice(%a: tensor<4xf32>, %p: i1) -> tensor<12xf32> {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %d = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %e = flow.dispatch @k::@f(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %r = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t = scf.if %p -> (tensor<4xf32>) {
    %0 = flow.dispatch @k::@f(%r) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  %1 = flow.dispatch @k::@f(%t) : (tensor<4xf32>) -> tensor<12xf32>
  %2 = flow.tensor.update %d, %1[%c4] : tensor<4xf32> -> %1 as tensor<12xf32>
  %3 = flow.tensor.update %e, %2[%c8] : tensor<4xf32> -> %2 as tensor<12xf32>
  util.return %3 : tensor<12xf32>
}
// CHECK-LABEL: util.func public @branch_twice
// CHECK:         [[D:%\w+]] = flow.dispatch @k::@f(%arg0)
// CHECK-NEXT:    [[E:%\w+]] = flow.dispatch @k::@f([[D]])
// CHECK:         [[BD:%\w+]] = flow.tensor.barrier [[D]]
// CHECK-NEXT:    [[TWO:%\w+]] = flow.tensor.update [[BD]]
// CHECK-NEXT:    [[BE:%\w+]] = flow.tensor.barrier [[E]]
// CHECK-NEXT:    flow.tensor.update [[BE]], [[TWO]]

// The calls of the host stay in their order.
util.func public @host_twice(%a: tensor<4xf32>, %v: !hal.buffer_view) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %first = util.call @host(%v) : (!hal.buffer_view) -> !hal.buffer_view
  %b = hal.tensor.import %first : !hal.buffer_view -> tensor<4xf32>
  %d = flow.dispatch @k::@f(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %then = util.call @host(%v) : (!hal.buffer_view) -> !hal.buffer_view
  %t = hal.tensor.import %then : !hal.buffer_view -> tensor<4xf32>
  %new = flow.tensor.empty : tensor<8xf32>
  %0 = flow.tensor.update %t, %new[%c0] : tensor<4xf32> -> %new as tensor<8xf32>
  %1 = flow.tensor.update %d, %0[%c4] : tensor<4xf32> -> %0 as tensor<8xf32>
  util.return %1 : tensor<8xf32>
}
// CHECK-LABEL: util.func public @host_twice
// CHECK:         [[D:%\w+]] = flow.dispatch @k::@f
// CHECK:         [[B:%\w+]] = flow.tensor.barrier [[D]]
// CHECK-NEXT:    flow.tensor.update [[B]]

// %sum reads %x before it is updated. Neither kernel may write to %x earlier, and behind a barrier IREE
// might copy %x after the update.
util.func public @read_before(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %x = flow.dispatch @k::@f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %d = flow.dispatch @k::@f(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = flow.dispatch @k::@f(%x) : (tensor<8xf32>) -> tensor<1xf32>
  %e = flow.dispatch @k::@f(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = flow.tensor.update %e, %x[%c0] : tensor<4xf32> -> %x as tensor<8xf32>
  %1 = flow.tensor.update %d, %0[%c4] : tensor<4xf32> -> %0 as tensor<8xf32>
  util.return %1, %sum : tensor<8xf32>, tensor<1xf32>
}
// CHECK-LABEL: util.func public @read_before
// CHECK:         [[X:%\w+]] = flow.dispatch @k::@f(%arg0)
// CHECK-NEXT:    [[D:%\w+]] = flow.dispatch @k::@f(%arg1)
// CHECK:         [[E:%\w+]] = flow.dispatch @k::@f(%arg1)
// CHECK-NEXT:    [[ONE:%\w+]] = flow.tensor.update [[E]], [[X]]
// CHECK-NEXT:    [[B:%\w+]] = flow.dispatch @after_0::@after_0([[D]]) : (tensor<4xf32>) -> [[D]]
// CHECK-NEXT:    flow.tensor.update [[B]], [[ONE]]

// A kernel does not write to what it reads, also if a branch may return it.
util.func public @reads_itself(%a: tensor<8xf32>, %p: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %x = flow.dispatch @k::@f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %y = flow.dispatch @k::@f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %0 = scf.if %p -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %y : tensor<8xf32>
  }
  %d = flow.dispatch @k::@f(%x) : (tensor<8xf32>) -> tensor<4xf32>
  %1 = flow.tensor.update %d, %0[%c0] : tensor<4xf32> -> %0 as tensor<8xf32>
  util.return %1 : tensor<8xf32>
}
// CHECK-LABEL: util.func public @reads_itself
// CHECK:         [[D:%\w+]] = flow.dispatch @k::@f({{%\w+}}) : (tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    [[B:%\w+]] = flow.dispatch @after_0::@after_0([[D]]) : (tensor<4xf32>) -> [[D]]
// CHECK-NEXT:    flow.tensor.update [[B]]

// What the loop carries is no place for a kernel outside. Sizes that are not known are the
// barrier's, too.
util.func public @outside(%a: tensor<?xf32>, %b: tensor<4xf32>, %m: index, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = flow.dispatch @k::@f(%b, %m) : (tensor<4xf32>, index) -> tensor<?xf32>{%m}
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<?xf32>) {
    %1 = flow.tensor.update %d, %x[%i] : tensor<?xf32>{%m} -> %x as tensor<?xf32>{%n}
    scf.yield %1 : tensor<?xf32>
  }
  util.return %0 : tensor<?xf32>
}
// CHECK-LABEL: util.func public @outside
// CHECK:         [[D:%\w+]] = flow.dispatch @k::@f
// CHECK:           [[B:%\w+]] = flow.tensor.barrier [[D]] : tensor<?xf32>{%arg2}
// CHECK-NEXT:      flow.tensor.update [[B]]
