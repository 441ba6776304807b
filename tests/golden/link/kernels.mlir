// RUN: --pipeline "link{most=3}"

// Three kernels are in one executable, and what they share is there once. The fourth is one too
// many.
stream.executable private @a {
  stream.executable.export public @a
  builtin.module {
    func.func private @square(%x: f32) -> f32
    func.func @a(%x: !stream.binding) {
      %0 = arith.constant 1.0 : f32
      %1 = func.call @square(%0) : (f32) -> f32
      return
    }
  }
}
stream.executable private @b {
  stream.executable.export public @b
  builtin.module {
    func.func private @square(%x: f32) -> f32
    func.func @b(%x: !stream.binding) {
      %0 = arith.constant 2.0 : f32
      %1 = func.call @square(%0) : (f32) -> f32
      return
    }
  }
}
stream.executable private @c {
  stream.executable.export public @c
  builtin.module {
    func.func @c(%x: !stream.binding) {
      return
    }
  }
}
stream.executable private @d {
  stream.executable.export public @d
  builtin.module {
    func.func @d(%x: !stream.binding) {
      return
    }
  }
}
// CHECK:         stream.executable private @a {
// CHECK-DAG:       stream.executable.export public @a
// CHECK-DAG:       stream.executable.export public @b
// CHECK-DAG:       stream.executable.export public @c
// CHECK:           builtin.module
// CHECK-COUNT-1:     func.func private @square
// CHECK-NOT:         func.func private @square
// CHECK:         stream.executable private @d {

// A function of another code under the same name stays where it is.
stream.executable private @e {
  stream.executable.export public @e
  builtin.module {
    func.func private @helper(%x: f32) -> f32 {
      return %x : f32
    }
    func.func @e(%x: !stream.binding) {
      return
    }
  }
}
stream.executable private @f {
  stream.executable.export public @f
  builtin.module {
    func.func private @helper(%x: f32) -> f32 {
      %0 = arith.negf %x : f32
      return %0 : f32
    }
    func.func @f(%x: !stream.binding) {
      return
    }
  }
}
// CHECK:           func.func @e
// CHECK:         stream.executable private @f {

util.func public @run(%r: !stream.resource<transient>, %n: index) {
  %c0 = arith.constant 0 : index
  %0 = stream.cmd.execute with(%r as %x: !stream.resource<transient>{%n}) {
    stream.cmd.dispatch @b::@b {
      rw %x[%c0 for %n] : !stream.resource<transient>{%n}
    }
    stream.cmd.dispatch @d::@d {
      rw %x[%c0 for %n] : !stream.resource<transient>{%n}
    }
    stream.cmd.dispatch @f::@f {
      rw %x[%c0 for %n] : !stream.resource<transient>{%n}
    }
  } => !stream.timepoint
  %1 = stream.timepoint.await %0 => %r : !stream.resource<transient>{%n}
  util.return
}
// CHECK-LABEL: util.func public @run
// CHECK:         stream.cmd.dispatch @a::@b
// CHECK:         stream.cmd.dispatch @d::@d
// CHECK:         stream.cmd.dispatch @f::@f
