// RUN: --pipeline "alignments"

// The second array begins at a multiple of 24 bytes, for one of the dispatches.
util.func public @main(%r: !stream.resource<external>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %row = arith.minui %i, %c1 : index
  %at = arith.muli %row, %c24 : index
  %0 = stream.cmd.execute with(%r as %a: !stream.resource<external>{%c128}) {
    stream.cmd.dispatch @k::@f {
      ro %a[%c64 for %c24] : !stream.resource<external>{%c128},
      rw %a[%at for %c24] : !stream.resource<external>{%c128}
    }
    stream.cmd.dispatch @k::@f {
      ro %a[%c64 for %c24] : !stream.resource<external>{%c128},
      rw %a[%c0 for %c24] : !stream.resource<external>{%c128}
    }
  } => !stream.timepoint
  util.return
}
stream.executable private @k {
  stream.executable.export public @f
  builtin.module {
    func.func @f(%x: !stream.binding {stream.alignment = 64 : index}, %y: !stream.binding {stream.alignment = 64 : index}) {
      return
    }
  }
}
// CHECK: func.func @f(%arg0: !stream.binding {stream.alignment = 64 : index}, %arg1: !stream.binding {stream.alignment = 8 : index})

// An offset that goes around a loop, from 0 on, in steps of 32 bytes.
util.func public @loop(%r: !stream.resource<external>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  cf.br ^step(%c0 : index)
^step(%at: index):
  %0 = stream.cmd.execute with(%r as %a: !stream.resource<external>{%c128}) {
    stream.cmd.dispatch @l::@g {
      rw %a[%at for %c32] : !stream.resource<external>{%c128}
    }
  } => !stream.timepoint
  %next = arith.addi %at, %c32 : index
  %more = arith.cmpi slt, %next, %n : index
  cf.cond_br %more, ^step(%next : index), ^end
^end:
  util.return
}
stream.executable private @l {
  stream.executable.export public @g
  builtin.module {
    func.func @g(%x: !stream.binding {stream.alignment = 64 : index}) {
      return
    }
  }
}
// CHECK: func.func @g(%arg0: !stream.binding {stream.alignment = 32 : index})
