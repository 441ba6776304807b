// A kernel of irax's that says so finds a result in the memory of an operand, where an earlier kernel
// made that and no other operation uses it: the result has no binding of its own then. Not that of an
// argument of the program, and not one that is used again.
// RUN: --pipeline "overwrite"

// CHECK:      func.func @factor(%[[X:.*]]: !stream.binding, %[[SCRATCH:.*]]: !stream.binding) {
// CHECK:        %[[IN:.*]] = stream.binding.subspan %[[X]]
// CHECK:        %[[OUT:.*]] = stream.binding.subspan %[[X]]
// CHECK:        memref.store %{{.*}}, %[[OUT]]
stream.executable private @factor {
  stream.executable.export public @factor workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @factor(%x: !stream.binding, %out: !stream.binding, %scratch: !stream.binding) attributes {in_place = array<i64: 1, 0>} {
      %c0 = arith.constant 0 : index
      %from = stream.binding.subspan %x[%c0] : !stream.binding -> memref<16xf32, strided<[1], offset: ?>>
      %to = stream.binding.subspan %out[%c0] : !stream.binding -> memref<16xf32, strided<[1], offset: ?>>
      %memory = stream.binding.subspan %scratch[%c0] : !stream.binding -> memref<16xf32, strided<[1], offset: ?>>
      %0 = memref.load %from[%c0] : memref<16xf32, strided<[1], offset: ?>>
      memref.store %0, %to[%c0] : memref<16xf32, strided<[1], offset: ?>>
      memref.store %0, %memory[%c0] : memref<16xf32, strided<[1], offset: ?>>
      return
    }
  }
}
// CHECK:      func.func @of_argument(%{{.*}}: !stream.binding, %{{.*}}: !stream.binding) attributes {in_place
stream.executable private @of_argument {
  stream.executable.export public @of_argument workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @of_argument(%x: !stream.binding, %out: !stream.binding) attributes {in_place = array<i64: 1, 0>} {
      return
    }
  }
}
// CHECK:      func.func @of_used(%{{.*}}: !stream.binding, %{{.*}}: !stream.binding) attributes {in_place
stream.executable private @of_used {
  stream.executable.export public @of_used workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @of_used(%x: !stream.binding, %out: !stream.binding) attributes {in_place = array<i64: 1, 0>} {
      return
    }
  }
}
stream.executable private @make {
  stream.executable.export public @make workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @make(%x: !stream.binding, %out: !stream.binding) {
      return
    }
  }
}
// CHECK:      util.func public @main
util.func public @main(%given: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %[[MADE:.*]] = flow.dispatch @make::@make(
  %made = flow.dispatch @make::@make(%given) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: flow.dispatch @factor::@factor(%[[MADE]]) : (tensor<4x4xf32>) -> (%[[MADE]], tensor<16xf32>)
  %factor:2 = flow.dispatch @factor::@factor(%made) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<16xf32>)
  // CHECK: flow.dispatch @of_argument::@of_argument(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = flow.dispatch @of_argument::@of_argument(%given) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: flow.dispatch @of_used::@of_used(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = flow.dispatch @of_used::@of_used(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  util.return %factor#0, %1, %2, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
