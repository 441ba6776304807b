// RUN: --pipeline "update-carries-in-place"

flow.executable private @k {
  flow.executable.export public @f
}

// What no step writes to gets a barrier, if each next value is new.
util.func public @read(%a: tensor<4096xf32>, %n: index) -> tensor<4096xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<4096xf32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    scf.yield %1 : tensor<4096xf32>
  }
  util.return %0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @read
// CHECK:         iter_args([[X:%\w+]] = %arg0)
// CHECK-NEXT:      [[B:%\w+]] = flow.tensor.barrier [[X]] : tensor<4096xf32> on #hal.device.promise<@__device_0>
// CHECK-NEXT:      flow.dispatch @k::@f([[B]])

// What a step writes to begins as a copy. The dispatch that reads the array does not write into the
// place of the update.
util.func public @updated(%a: tensor<4096xf32>, %n: index) -> tensor<4096xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<4096xf32>) {
    %1 = flow.dispatch @k::@f(%x, %i) : (tensor<4096xf32>, index) -> tensor<8xf32>
    %2 = flow.tensor.update %1, %x[%i] : tensor<8xf32> -> %x as tensor<4096xf32>
    scf.yield %2 : tensor<4096xf32>
  }
  util.return %0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @updated
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_16384::@copy_16384[{{%\w+}}](%arg0)
// CHECK:         iter_args([[X:%\w+]] = [[COPY]])
// CHECK-NEXT:      [[B:%\w+]] = flow.tensor.barrier [[X]]
// CHECK-NEXT:      [[NEW:%\w+]] = flow.dispatch @k::@f([[B]], {{%\w+}})
// CHECK-NEXT:      [[DONE:%\w+]] = flow.tensor.barrier [[NEW]]
// CHECK-NEXT:      flow.tensor.update [[DONE]], [[B]]

// Two arrays that begin as one have a copy each, which IREE must not take for equal. What a dispatch
// of the loop's own computes needs no copy.
util.func public @begins(%a: tensor<4096xf32>, %n: index) -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %new = flow.dispatch @k::@f(%a) : (tensor<4096xf32>) -> tensor<4096xf32>
  %0:3 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %a, %z = %new) -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> %x
    %2 = flow.dispatch @k::@f(%y) : (tensor<4096xf32>) -> %y
    %3 = flow.dispatch @k::@f(%z) : (tensor<4096xf32>) -> %z
    scf.yield %1, %2, %3 : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
  }
  util.return %0#0, %0#1, %0#2 : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}
// CHECK-LABEL: util.func public @begins
// CHECK:         [[NEW:%\w+]] = flow.dispatch @k::@f(%arg0)
// CHECK:         [[ZERO:%\w+]] = arith.constant 1 : index
// CHECK:         [[A:%\w+]] = flow.dispatch @copy_16384::@copy_16384[[[ZERO]]](%arg0)
// CHECK:         [[ONE:%\w+]] = arith.constant 2 : index
// CHECK:         [[B:%\w+]] = flow.dispatch @copy_16384::@copy_16384[[[ONE]]](%arg0)
// CHECK:         iter_args({{%\w+}} = [[A]], {{%\w+}} = [[B]], {{%\w+}} = [[NEW]])

// A sum that is read after the update is complete before the next step writes.
util.func public @waits(%a: tensor<4096xf32>, %s: tensor<1xf32>, %n: index) -> (tensor<4096xf32>, tensor<1xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %t = %s) -> (tensor<4096xf32>, tensor<1xf32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> %x
    %2 = flow.dispatch @k::@f(%1, %t) : (tensor<4096xf32>, tensor<1xf32>) -> tensor<1xf32>
    scf.yield %1, %2 : tensor<4096xf32>, tensor<1xf32>
  }
  util.return %0#0, %0#1 : tensor<4096xf32>, tensor<1xf32>
}
// CHECK-LABEL: util.func public @waits
// CHECK:           [[NEXT:%\w+]] = flow.dispatch @k::@f({{%\w+}}) : (tensor<4096xf32>) -> {{%\w+}}
// CHECK-NEXT:      [[SUM:%\w+]] = flow.dispatch @k::@f([[NEXT]], {{%\w+}})
// CHECK-NEXT:      [[LAST:%\w+]] = flow.dispatch @after_1::@after_1([[NEXT]], [[SUM]]) : (tensor<4096xf32>, tensor<1xf32>) -> [[NEXT]]
// CHECK-NEXT:      scf.yield [[LAST]], [[SUM]]

// A loop whose condition follows the step: its arrays are those of the first block.
util.func public @condition_last(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = scf.while (%x = %a) : (tensor<4096xf32>) -> tensor<4096xf32> {
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    %2 = flow.dispatch @k::@f(%1) : (tensor<4096xf32>) -> tensor<i1>
    %3 = flow.tensor.load %2 : tensor<i1>
    scf.condition(%3) %1 : tensor<4096xf32>
  } do {
  ^bb0(%x: tensor<4096xf32>):
    scf.yield %x : tensor<4096xf32>
  }
  util.return %0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @condition_last
// CHECK:         scf.while ([[X:%\w+]] = %arg0)
// CHECK-NEXT:      flow.tensor.barrier [[X]]

// The condition's block reads the array too.
util.func public @condition_first(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = scf.while (%x = %a) : (tensor<4096xf32>) -> tensor<4096xf32> {
    %2 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> tensor<i1>
    %3 = flow.tensor.load %2 : tensor<i1>
    scf.condition(%3) %x : tensor<4096xf32>
  } do {
  ^bb0(%x: tensor<4096xf32>):
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> %x
    scf.yield %1 : tensor<4096xf32>
  }
  util.return %0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @condition_first
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_16384
// CHECK:         scf.while ([[X:%\w+]] = [[COPY]])
// CHECK-NEXT:      flow.tensor.barrier [[X]]
// CHECK:         ^bb0([[Y:%\w+]]: tensor<4096xf32>):
// CHECK-NEXT:      flow.tensor.barrier [[Y]]

// These stay as they are: two next values in one memory, a next value from outside, a reader that
// may be late in its own step, kernels that read what they write to, and one whose next value is the
// same in each step.
util.func public @unsafe(%a: tensor<4096xf32>, %n: index) -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<1xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  %s = flow.tensor.splat %f : tensor<1xf32>
  %0:8 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %a, %z = %a, %u = %a, %v = %a, %k = %a, %l = %a, %t = %s) -> (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<1xf32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> %x
    %2 = flow.dispatch @k::@f(%z) : (tensor<4096xf32>) -> %z
    %3 = flow.dispatch @k::@f(%u) : (tensor<4096xf32>) -> tensor<1xf32>
    %4 = flow.dispatch @k::@f(%u) : (tensor<4096xf32>) -> %u
    %6 = flow.dispatch @k::@f(%v, %v) : (tensor<4096xf32>, tensor<4096xf32>) -> %v
    %8 = flow.dispatch @k::@f(%k, %k) : (tensor<4096xf32>, tensor<4096xf32>) -> %k
    %9 = flow.dispatch @k::@f(%a) : (tensor<4096xf32>) -> tensor<4096xf32>
    %11 = flow.dispatch @k::@f(%l) : (tensor<4096xf32>) -> tensor<1xf32>
    %12 = flow.dispatch @k::@f(%3, %11) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    scf.yield %1, %1, %a, %4, %6, %8, %9, %12 : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<1xf32>
  }
  util.return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7 : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<1xf32>
}
// CHECK-LABEL: util.func public @unsafe
// CHECK-NOT:     flow.tensor.barrier
// CHECK:         util.return

// IREE would not wait for %y, which the host reads, if it did not copy what the loop carries. Of the
// arrays, which begin as one, one begins as a copy.
util.func public @read_by_host(%a: tensor<4096xf32>, %n: index) -> tensor<4096xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %a) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> %x
    %2 = flow.tensor.reshape %y : tensor<4096xf32> -> tensor<64x64xf32>
    %3 = flow.tensor.load %2[%i, %i] : tensor<64x64xf32>
    %4 = flow.dispatch @k::@f(%1, %3) : (tensor<4096xf32>, f32) -> tensor<4096xf32>
    scf.yield %1, %4 : tensor<4096xf32>, tensor<4096xf32>
  }
  util.return %0#0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @read_by_host
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_16384::@copy_16384[{{%\w+}}](%arg0)
// CHECK:         iter_args({{%\w+}} = %arg0, {{%\w+}} = [[COPY]])
// CHECK-NOT:     flow.tensor.barrier
// CHECK:         util.return

// A function of the host gets a copy of %y, so that the larger %x need not be copied.
util.func private @sort(!hal.buffer_view) -> !hal.buffer_view
util.func public @given_to_host(%a: tensor<4096xf32>, %b: tensor<64xf32>, %n: index) -> tensor<4096xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %b) -> (tensor<4096xf32>, tensor<64xf32>) {
    %1 = hal.tensor.export %y : tensor<64xf32> -> !hal.buffer_view
    %2 = util.call @sort(%1) : (!hal.buffer_view) -> !hal.buffer_view
    %3 = hal.tensor.import %2 : !hal.buffer_view -> tensor<64xf32>
    %4 = flow.dispatch @k::@f(%3) : (tensor<64xf32>) -> tensor<64xf32>
    %5 = flow.tensor.update %4, %x[%i] : tensor<64xf32> -> %x as tensor<4096xf32>
    scf.yield %5, %4 : tensor<4096xf32>, tensor<64xf32>
  }
  util.return %0#0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @given_to_host
// CHECK:         scf.for %{{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK-DAG:       %[[XS:.*]] = flow.tensor.barrier %[[X]]
// CHECK-DAG:       %[[YS:.*]] = flow.tensor.barrier %[[Y]]
// CHECK:           %[[COPY:.*]] = flow.dispatch @copy_256{{.*}}(%[[YS]])
// CHECK:           hal.tensor.export %[[COPY]]
// CHECK:           flow.tensor.update %{{.*}}, %[[XS]]

// The host is called in a branch: the loop stays as it is.
util.func public @calls_host_in_branch(%a: tensor<4096xf32>, %b: tensor<64xf32>, %p: i1, %n: index) -> tensor<4096xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<4096xf32>) {
    %1 = scf.if %p -> (tensor<64xf32>) {
      %given = hal.tensor.export %b : tensor<64xf32> -> !hal.buffer_view
      %sorted = util.call @sort(%given) : (!hal.buffer_view) -> !hal.buffer_view
      %taken = hal.tensor.import %sorted : !hal.buffer_view -> tensor<64xf32>
      scf.yield %taken : tensor<64xf32>
    } else {
      scf.yield %b : tensor<64xf32>
    }
    %2 = flow.tensor.update %1, %x[%i] : tensor<64xf32> -> %x as tensor<4096xf32>
    scf.yield %2 : tensor<4096xf32>
  }
  util.return %0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @calls_host_in_branch
// CHECK-NOT:     flow.tensor.barrier
// CHECK:         util.return

// Arrays of unknown size are copied by a kernel that gets their bytes. What reads and writes them
// says how large they are.
util.func public @sized(%a: tensor<?x8xf32>, %size: index, %n: index) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<?x8xf32>) {
    %1 = flow.dispatch @k::@f(%x, %i) : (tensor<?x8xf32>{%size}, index) -> tensor<1x8xf32>
    %2 = flow.tensor.update %1, %x[%i, %zero] : tensor<1x8xf32> -> %x as tensor<?x8xf32>{%size}
    scf.yield %2 : tensor<?x8xf32>
  }
  util.return %0 : tensor<?x8xf32>
}
// CHECK-LABEL: util.func public @sized
// CHECK:         [[BYTES:%\w+]] = arith.index_cast {{%\w+}} : index to i64
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_any::@copy_any[{{%\w+}}](%arg0, [[BYTES]]) : (tensor<?x8xf32>{[[SIZE:%\w+]]}, i64) -> tensor<?x8xf32>{[[SIZE]]}
// CHECK:         iter_args([[X:%\w+]] = [[COPY]])
// CHECK-NEXT:      [[B:%\w+]] = flow.tensor.barrier [[X]] : tensor<?x8xf32>{[[SIZE]]}
// CHECK-NEXT:      [[NEW:%\w+]] = flow.dispatch @k::@f([[B]], {{%\w+}})
// CHECK-NEXT:      [[DONE:%\w+]] = flow.tensor.barrier [[NEW]] : tensor<1x8xf32> on
// CHECK-NEXT:      flow.tensor.update [[DONE]], [[B]]

// Small arrays that begin as one have memory of their own: a step would update one for both.
util.func public @small(%a: tensor<4096xf32>, %b: tensor<8xf32>, %n: index) -> (tensor<4096xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0:3 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %b, %z = %b) -> (tensor<4096xf32>, tensor<8xf32>, tensor<8xf32>) {
    %1 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    %2 = flow.dispatch @k::@f(%1) : (tensor<4096xf32>) -> tensor<1xf32>
    %3 = flow.tensor.update %2, %y[%i] : tensor<1xf32> -> %y as tensor<8xf32>
    %4 = flow.dispatch @k::@f(%y) : (tensor<8xf32>) -> tensor<1xf32>
    %5 = flow.tensor.update %4, %z[%i] : tensor<1xf32> -> %z as tensor<8xf32>
    scf.yield %1, %3, %5 : tensor<4096xf32>, tensor<8xf32>, tensor<8xf32>
  }
  util.return %0#0, %0#1, %0#2 : tensor<4096xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: util.func public @small
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_32::@copy_32[{{%\w+}}](%arg1)
// CHECK:         iter_args({{%\w+}} = %arg0, {{%\w+}} = %arg1, {{%\w+}} = [[COPY]])

// What is moved within an array is copied before it is written.
util.func public @moved(%a: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<64x64xf32>) {
    %1 = flow.tensor.slice %x[%i, %zero for %one, %c64] : tensor<64x64xf32> -> tensor<1x64xf32>
    %2 = flow.tensor.update %1, %x[%zero, %zero] : tensor<1x64xf32> -> %x as tensor<64x64xf32>
    scf.yield %2 : tensor<64x64xf32>
  }
  util.return %0 : tensor<64x64xf32>
}
// CHECK-LABEL: util.func public @moved
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_16384::@copy_16384[{{%\w+}}](%arg0)
// CHECK:         iter_args([[X:%\w+]] = [[COPY]])
// CHECK-NEXT:      [[B:%\w+]] = flow.tensor.barrier [[X]]
// CHECK-NEXT:      [[PART:%\w+]] = flow.tensor.slice [[B]]
// CHECK:           [[APART:%\w+]] = flow.dispatch @copy_256::@copy_256[{{%\w+}}]([[PART]])
// CHECK:           flow.tensor.update {{%\w+}}, [[B]]

// A number that is used after the loop, too, is copied for it; one that is used before is not.
util.func public @numbers(%a: tensor<f32>, %n: index) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = arith.constant dense<1.0> : tensor<f32>
  %y = arith.constant dense<2.0> : tensor<f32>
  %0 = flow.dispatch @k::@f(%a, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1:2 = scf.for %i = %zero to %n step %one iter_args(%v = %x, %w = %y) -> (tensor<f32>, tensor<f32>) {
    %3:2 = flow.dispatch @k::@f(%v, %w, %0) : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    scf.yield %3#0, %3#1 : tensor<f32>, tensor<f32>
  }
  %2 = flow.dispatch @k::@f(%x, %1#0, %1#1) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  util.return %2 : tensor<f32>
}
// CHECK-LABEL: util.func public @numbers
// CHECK:         [[X:%\w+]] = arith.constant dense<1.0
// CHECK:         [[Y:%\w+]] = arith.constant dense<2.0
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_4::@copy_4[{{%\w+}}]([[X]])
// CHECK:         iter_args([[V:%\w+]] = [[COPY]], [[W:%\w+]] = [[Y]])

// So it does of a number, such as the steps that a loop has done.
util.func private @tell(!hal.buffer_view)
util.func public @number_given_to_host(%a: tensor<4096xf32>, %b: tensor<i32>, %n: index) -> tensor<4096xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %b) -> (tensor<4096xf32>, tensor<i32>) {
    %1 = hal.tensor.export %y : tensor<i32> -> !hal.buffer_view
    util.call @tell(%1) : (!hal.buffer_view) -> ()
    %2 = flow.dispatch @k::@f(%y) : (tensor<i32>) -> tensor<i32>
    %3 = flow.dispatch @k::@f(%x) : (tensor<4096xf32>) -> %x
    scf.yield %3, %2 : tensor<4096xf32>, tensor<i32>
  }
  util.return %0#0 : tensor<4096xf32>
}
// CHECK-LABEL: util.func public @number_given_to_host
// CHECK:         [[COPY:%\w+]] = flow.dispatch @copy_16384::@copy_16384[{{%\w+}}](%arg0)
// CHECK:         iter_args([[X:%\w+]] = [[COPY]], [[Y:%\w+]] = %arg1)
// CHECK:         flow.tensor.barrier [[X]]
// CHECK:         [[NUMBER:%\w+]] = flow.dispatch @copy_4::@copy_4[{{%\w+}}]
// CHECK:         hal.tensor.export [[NUMBER]]
