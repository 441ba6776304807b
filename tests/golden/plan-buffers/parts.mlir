// RUN: --pipeline "plan-buffers"

stream.executable private @shared {
  stream.executable.export public @shared workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    stream.return %c2, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @shared(%x: !stream.binding, %y: !stream.binding) {
      return
    }
  }
}
stream.executable private @alone {
  stream.executable.export public @alone workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @alone(%x: !stream.binding, %y: !stream.binding) {
      return
    }
  }
}

// The first array is no longer used when the result is written.
func.func @in_result(%x: !stream.resource<external>) -> (!stream.resource<external>, !stream.timepoint) {
  %c0 = arith.constant 0 : index
  %size = arith.constant 65536 : index
  %y, %made = stream.resource.alloca uninitialized : !stream.resource<external>{%size} => !stream.timepoint
  %places:3 = stream.resource.pack slices({
    [0, 1] = %size,
    [1, 2] = %size
  }) : index
  %own, %ready = stream.resource.alloca uninitialized : !stream.resource<transient>{%places#0} => !stream.timepoint
  %begin = stream.timepoint.join max(%made, %ready) => !stream.timepoint
  %end = stream.cmd.execute await(%begin) => with(%x as %a: !stream.resource<external>{%size}, %y as %b: !stream.resource<external>{%size}, %own as %c: !stream.resource<transient>{%places#0}) {
    stream.cmd.dispatch @shared::@shared {
      ro %a[%c0 for %size] : !stream.resource<external>{%size},
      wo %c[%places#1 for %size] : !stream.resource<transient>{%places#0}
    }
    stream.cmd.dispatch @shared::@shared {
      ro %c[%places#1 for %size] : !stream.resource<transient>{%places#0},
      wo %c[%places#2 for %size] : !stream.resource<transient>{%places#0}
    }
    stream.cmd.dispatch @shared::@shared {
      ro %c[%places#2 for %size] : !stream.resource<transient>{%places#0},
      wo %b[%c0 for %size] : !stream.resource<external>{%size}
    }
  } => !stream.timepoint
  %done = stream.resource.dealloca await(%end) => %own : !stream.resource<transient>{%places#0} => !stream.timepoint
  return %y, %done : !stream.resource<external>, !stream.timepoint
}
// CHECK-LABEL: func.func @in_result
// CHECK-NOT:     stream.resource.pack
// CHECK:         stream.resource.alloca uninitialized : !stream.resource<transient>{%c65536
// CHECK:         stream.cmd.execute
// CHECK-SAME:      , %{{\w+}} as [[RESULT:%\w+]]: !stream.resource<external>{%c65536}, %{{\w+}} as [[OWN:%\w+]]: !stream.resource<transient>
// CHECK:             wo [[RESULT]][%{{\w+}} for %c65536]
// CHECK:             ro [[RESULT]][%{{\w+}} for %c65536]
// CHECK-NEXT:        wo [[OWN]][%{{\w+}} for %c65536]
// CHECK:             ro [[OWN]][%{{\w+}} for %c65536]
// CHECK-NEXT:        wo [[RESULT]][%c0 for %c65536]

// The kernels of the wave are large enough to run one after the other: the one that frees memory is
// the first.
func.func @wave(%x: !stream.resource<external>) -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %size = arith.constant 1048576 : index
  %places:3 = stream.resource.pack slices({
    [0, 1] = %size,
    [1, 2] = %size
  }) : index
  %own, %ready = stream.resource.alloca uninitialized : !stream.resource<transient>{%places#0} => !stream.timepoint
  %end = stream.cmd.execute await(%ready) => with(%x as %a: !stream.resource<external>{%size}, %own as %c: !stream.resource<transient>{%places#0}) {
    stream.cmd.dispatch @shared::@shared {
      ro %a[%c0 for %size] : !stream.resource<external>{%size},
      wo %c[%places#1 for %size] : !stream.resource<transient>{%places#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @shared::@shared {
        ro %a[%c0 for %size] : !stream.resource<external>{%size},
        wo %c[%places#2 for %size] : !stream.resource<transient>{%places#0}
      }
      stream.cmd.dispatch @shared::@shared {
        ro %c[%places#1 for %size] : !stream.resource<transient>{%places#0},
        wo %a[%c0 for %size] : !stream.resource<external>{%size}
      }
    }
    stream.cmd.dispatch @shared::@shared {
      ro %c[%places#2 for %size] : !stream.resource<transient>{%places#0},
      wo %a[%c0 for %size] : !stream.resource<external>{%size}
    }
  } => !stream.timepoint
  %done = stream.resource.dealloca await(%end) => %own : !stream.resource<transient>{%places#0} => !stream.timepoint
  return %done : !stream.timepoint
}
// CHECK-LABEL: func.func @wave
// CHECK:         stream.resource.alloca uninitialized : !stream.resource<transient>{%c1048576
// CHECK:         as [[OWN:%\w+]]: !stream.resource<transient>
// CHECK-NOT:     stream.cmd.concurrent
// CHECK:           ro [[OWN]]
// CHECK:           wo [[OWN]]
// CHECK:           ro [[OWN]]

// One worker runs one of them, and others would wait for it.
func.func @one_worker(%x: !stream.resource<external>) -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %size = arith.constant 1048576 : index
  %places:3 = stream.resource.pack slices({
    [0, 1] = %size,
    [1, 2] = %size
  }) : index
  %own, %ready = stream.resource.alloca uninitialized : !stream.resource<transient>{%places#0} => !stream.timepoint
  %end = stream.cmd.execute await(%ready) => with(%x as %a: !stream.resource<external>{%size}, %own as %c: !stream.resource<transient>{%places#0}) {
    stream.cmd.dispatch @shared::@shared {
      ro %a[%c0 for %size] : !stream.resource<external>{%size},
      wo %c[%places#1 for %size] : !stream.resource<transient>{%places#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @alone::@alone {
        ro %a[%c0 for %size] : !stream.resource<external>{%size},
        wo %c[%places#2 for %size] : !stream.resource<transient>{%places#0}
      }
      stream.cmd.dispatch @shared::@shared {
        ro %c[%places#1 for %size] : !stream.resource<transient>{%places#0},
        wo %a[%c0 for %size] : !stream.resource<external>{%size}
      }
    }
    stream.cmd.dispatch @shared::@shared {
      ro %c[%places#2 for %size] : !stream.resource<transient>{%places#0},
      wo %a[%c0 for %size] : !stream.resource<external>{%size}
    }
  } => !stream.timepoint
  %done = stream.resource.dealloca await(%end) => %own : !stream.resource<transient>{%places#0} => !stream.timepoint
  return %done : !stream.timepoint
}
// CHECK-LABEL: func.func @one_worker
// CHECK:         stream.resource.alloca uninitialized : !stream.resource<transient>{%c2097152
// CHECK:         stream.cmd.concurrent

// Each step of the loop writes into the same memory, which is not free at its beginning.
func.func @loop(%x: !stream.resource<external>, %again: i1) -> !stream.resource<external> {
  %c0 = arith.constant 0 : index
  %size = arith.constant 65536 : index
  %y, %made = stream.resource.alloca uninitialized : !stream.resource<external>{%size} => !stream.timepoint
  cf.br ^bb1
^bb1:
  %places:2 = stream.resource.pack slices({
    [0, 1] = %size
  }) : index
  %own, %ready = stream.resource.alloca uninitialized : !stream.resource<transient>{%places#0} => !stream.timepoint
  %end = stream.cmd.execute await(%ready) => with(%x as %a: !stream.resource<external>{%size}, %y as %b: !stream.resource<external>{%size}, %own as %c: !stream.resource<transient>{%places#0}) {
    stream.cmd.copy %a[%c0], %c[%places#1], %size : !stream.resource<external>{%size} -> !stream.resource<transient>{%places#0}
    stream.cmd.copy %c[%places#1], %b[%c0], %size : !stream.resource<transient>{%places#0} -> !stream.resource<external>{%size}
  } => !stream.timepoint
  cf.cond_br %again, ^bb1, ^bb2
^bb2:
  return %y : !stream.resource<external>
}
// CHECK-LABEL: func.func @loop
// CHECK:         stream.resource.alloca uninitialized : !stream.resource<transient>{%c65536
// CHECK:         as [[OWN:%\w+]]: !stream.resource<transient>
// CHECK:           stream.cmd.copy %{{\w+}}[%{{\w+}}], [[OWN]]
