// RUN: --pipeline "order-updates"

// @reads has what @writes, in a group, writes over. It comes first, and with it what it reads.
func.func @group(%x: !stream.resource<external>, %y: !stream.resource<external>) -> (!stream.resource<external>, !stream.resource<external>, !stream.resource<external>, !stream.timepoint) {
  %c0 = arith.constant 0 : index
  %size = arith.constant 64 : index
  %results:3, %done = stream.async.execute with(%x as %a: !stream.resource<external>{%size}, %y as %b: !stream.resource<external>{%size}) -> (%x as !stream.resource<external>{%size}, !stream.resource<external>{%size}, !stream.resource<external>{%size}) {
    %0:2 = stream.async.concurrent with(%a as %c: !stream.resource<external>{%size}, %b as %d: !stream.resource<external>{%size}) -> (!stream.resource<external>{%size}, !stream.resource<external>{%size}) {
      %3 = stream.async.dispatch @kernels::@writes(%c[%c0 to %size for %size]) : (!stream.resource<external>{%size}) -> %c{%size}
      %4 = stream.async.dispatch @kernels::@others(%d[%c0 to %size for %size]) : (!stream.resource<external>{%size}) -> !stream.resource<external>{%size}
      stream.yield %3, %4 : !stream.resource<external>{%size}, !stream.resource<external>{%size}
    }
    %1 = stream.async.dispatch @kernels::@makes(%b[%c0 to %size for %size]) : (!stream.resource<external>{%size}) -> !stream.resource<transient>{%size}
    %2 = stream.async.dispatch @kernels::@reads(%1[%c0 to %size for %size], %a[%c0 to %size for %size]) : (!stream.resource<transient>{%size}, !stream.resource<external>{%size}) -> !stream.resource<external>{%size}
    stream.yield %0#0, %0#1, %2 : !stream.resource<external>{%size}, !stream.resource<external>{%size}, !stream.resource<external>{%size}
  } => !stream.timepoint
  return %results#0, %results#1, %results#2, %done : !stream.resource<external>, !stream.resource<external>, !stream.resource<external>, !stream.timepoint
}
// CHECK-LABEL: func.func @group
// CHECK:         stream.async.execute
// CHECK-NEXT:      stream.async.dispatch @kernels::@makes
// CHECK-NEXT:      stream.async.dispatch @kernels::@reads
// CHECK-NEXT:      stream.async.concurrent
// CHECK-NEXT:        stream.async.dispatch @kernels::@writes
// CHECK-NEXT:        stream.async.dispatch @kernels::@others

// What reads the new elements stays behind.
func.func @updated(%x: !stream.resource<external>) -> (!stream.resource<external>, !stream.resource<external>, !stream.timepoint) {
  %c0 = arith.constant 0 : index
  %size = arith.constant 64 : index
  %results:2, %done = stream.async.execute with(%x as %a: !stream.resource<external>{%size}) -> (%x as !stream.resource<external>{%size}, !stream.resource<external>{%size}) {
    %0 = stream.async.dispatch @kernels::@writes(%a[%c0 to %size for %size]) : (!stream.resource<external>{%size}) -> %a{%size}
    %1 = stream.async.dispatch @kernels::@reads(%0[%c0 to %size for %size]) : (!stream.resource<external>{%size}) -> !stream.resource<external>{%size}
    stream.yield %0, %1 : !stream.resource<external>{%size}, !stream.resource<external>{%size}
  } => !stream.timepoint
  return %results#0, %results#1, %done : !stream.resource<external>, !stream.resource<external>, !stream.timepoint
}
// CHECK-LABEL: func.func @updated
// CHECK:         stream.async.execute
// CHECK-NEXT:      stream.async.dispatch @kernels::@writes
// CHECK-NEXT:      stream.async.dispatch @kernels::@reads
