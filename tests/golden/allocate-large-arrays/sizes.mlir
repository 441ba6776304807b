// RUN: --pipeline "allocate-large-arrays"

// The small array stays in the queue's pool, and the large one is the device allocator's.
func.func @sizes(%before: !stream.timepoint) -> (!stream.resource<external>, !stream.timepoint) {
  %large = arith.constant 67108864 : index
  %small = arith.constant 67108863 : index
  %x, %made = stream.resource.alloca uninitialized : !stream.resource<external>{%large} => !stream.timepoint
  %y, %after = stream.resource.alloca uninitialized await(%before) => !stream.resource<transient>{%large} => !stream.timepoint
  %z, %there = stream.resource.alloca uninitialized : !stream.resource<transient>{%small} => !stream.timepoint
  %all = stream.timepoint.join max(%made, %after, %there) => !stream.timepoint
  %0 = stream.resource.dealloca await(%all) => %y : !stream.resource<transient>{%large} => !stream.timepoint
  %1 = stream.resource.dealloca await(%0) => %z : !stream.resource<transient>{%small} => !stream.timepoint
  return %x, %1 : !stream.resource<external>, !stream.timepoint
}
// CHECK-LABEL: func.func @sizes
// CHECK-SAME:    [[BEFORE:%\w+]]: !stream.timepoint
// CHECK:         [[NOW:%\w+]] = stream.timepoint.immediate
// CHECK-NEXT:    [[X:%\w+]] = stream.resource.alloc : !stream.resource<external>
// CHECK-NEXT:    stream.resource.alloc : !stream.resource<transient>
// CHECK-NEXT:    [[Z:%\w+]], [[THERE:%\w+]] = stream.resource.alloca
// CHECK-NEXT:    [[ALL:%\w+]] = stream.timepoint.join max([[NOW]], [[BEFORE]], [[THERE]])
// CHECK-NEXT:    [[LAST:%\w+]] = stream.resource.dealloca await([[ALL]]) => [[Z]]
// CHECK-NEXT:    return [[X]], [[LAST]]

// A size that is not known may be small.
func.func @unknown(%size: index) -> (!stream.resource<external>, !stream.timepoint) {
  %x, %made = stream.resource.alloca uninitialized : !stream.resource<external>{%size} => !stream.timepoint
  return %x, %made : !stream.resource<external>, !stream.timepoint
}
// CHECK-LABEL: func.func @unknown
// CHECK:         stream.resource.alloca

// Of several temporaries the queue has the memory back before the function ends.
func.func @temporaries() -> (!stream.resource<external>, !stream.timepoint) {
  %large = arith.constant 67108864 : index
  %x, %made = stream.resource.alloca uninitialized : !stream.resource<external>{%large} => !stream.timepoint
  %y, %y_made = stream.resource.alloca uninitialized : !stream.resource<transient>{%large} => !stream.timepoint
  %0 = stream.resource.dealloca await(%y_made) => %y : !stream.resource<transient>{%large} => !stream.timepoint
  %z, %z_made = stream.resource.alloca uninitialized await(%0) => !stream.resource<transient>{%large} => !stream.timepoint
  %1 = stream.resource.dealloca await(%z_made) => %z : !stream.resource<transient>{%large} => !stream.timepoint
  return %x, %1 : !stream.resource<external>, !stream.timepoint
}
// CHECK-LABEL: func.func @temporaries
// CHECK:         stream.resource.alloc :
// CHECK:         stream.resource.alloca
// CHECK:         stream.resource.dealloca
// CHECK:         stream.resource.alloca
// CHECK:         stream.resource.dealloca

// A loop runs ahead of the queue.
func.func @loop(%flag: i1) -> !stream.timepoint {
  %large = arith.constant 67108864 : index
  cf.br ^bb1
^bb1:
  %x, %made = stream.resource.alloca uninitialized : !stream.resource<transient>{%large} => !stream.timepoint
  %0 = stream.resource.dealloca await(%made) => %x : !stream.resource<transient>{%large} => !stream.timepoint
  cf.cond_br %flag, ^bb1, ^bb2
^bb2:
  return %0 : !stream.timepoint
}
// CHECK-LABEL: func.func @loop
// CHECK:         stream.resource.alloca
// CHECK:         stream.resource.dealloca
