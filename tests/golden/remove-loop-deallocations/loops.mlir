// RUN: --pipeline "remove-loop-deallocations"

// If the loop takes no step, what it carried is the array that it began with, which is used later.
func.func @loop(%size: index, %flag: i1) -> !stream.timepoint {
  %x, %made = stream.resource.alloca uninitialized : !stream.resource<transient>{%size} => !stream.timepoint
  cf.br ^bb1(%x, %made : !stream.resource<transient>, !stream.timepoint)
^bb1(%y: !stream.resource<transient>, %done: !stream.timepoint):
  cf.cond_br %flag, ^bb1(%y, %done : !stream.resource<transient>, !stream.timepoint), ^bb2
^bb2:
  %0 = stream.resource.dealloca origin await(%done) => %y : !stream.resource<transient>{%size} => !stream.timepoint
  %1 = stream.resource.dealloca origin %y : !stream.resource<transient>{%size} => !stream.timepoint
  %2 = stream.resource.dealloca await(%0) => %x : !stream.resource<transient>{%size} => !stream.timepoint
  %3 = stream.timepoint.join max(%1, %2) => !stream.timepoint
  return %3 : !stream.timepoint
}
// CHECK-LABEL: func.func @loop
// CHECK:         [[X:%\w+]], %result_timepoint = stream.resource.alloca
// CHECK:       ^bb1([[Y:%\w+]]: !stream.resource<transient>, [[DONE:%\w+]]: !stream.timepoint):
// CHECK:       ^bb2:
// CHECK-NEXT:    [[NOW:%\w+]] = stream.timepoint.immediate
// CHECK-NEXT:    [[LAST:%\w+]] = stream.resource.dealloca await([[DONE]]) => [[X]]
// CHECK-NEXT:    stream.timepoint.join max([[NOW]], [[LAST]])
