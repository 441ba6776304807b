// A kernel writes the next value of an array that a loop carries over the array, where the pass
// `update-carries-in-place` lets it: others that read the array are waited for.
// RUN: --pipeline "overwrite"

// CHECK:      func.func @scale(%{{\w+}}: !stream.binding) {
stream.executable private @scale {
  stream.executable.export public @scale workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @scale(%x: !stream.binding, %out: !stream.binding) attributes {in_place = array<i64: 1, 0>} {
      return
    }
  }
}
// CHECK:      func.func @add(%{{\w+}}: !stream.binding, %{{\w+}}: !stream.binding) {
stream.executable private @add {
  stream.executable.export public @add workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @add(%x: !stream.binding, %y: !stream.binding, %out: !stream.binding) attributes {in_place = array<i64: 2, 0>} {
      return
    }
  }
}
// CHECK:      func.func @late(%{{\w+}}: !stream.binding, %{{\w+}}: !stream.binding) attributes {in_place
stream.executable private @late {
  stream.executable.export public @late workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @late(%x: !stream.binding, %out: !stream.binding) attributes {in_place = array<i64: 1, 0>} {
      return
    }
  }
}
flow.executable private @k {
  flow.executable.export public @f
}

// The sum waits for the other kernel that reads what it writes over.
// CHECK-LABEL: util.func public @steps
// CHECK:         iter_args([[X:%\w+]] = %arg0, [[Y:%\w+]] = %arg1,
// CHECK-NEXT:      [[NEW:%\w+]] = flow.dispatch @scale::@scale([[X]]) : (tensor<64x80xf32>) -> [[X]]
// CHECK-NEXT:      [[READ:%\w+]] = flow.dispatch @k::@f([[Y]])
// CHECK-NEXT:      [[HELD:%\w+]] = flow.dispatch @after_1::@after_1([[Y]], [[READ]]) : (tensor<64x80xf32>, tensor<f32>) -> [[Y]]
// CHECK-NEXT:      [[SUM:%\w+]] = flow.dispatch @add::@add([[HELD]], [[NEW]]) : (tensor<64x80xf32>, tensor<64x80xf32>) -> [[HELD]]
util.func public @steps(%a: tensor<64x80xf32>, %b: tensor<64x80xf32>, %c: tensor<f32>, %n: index) -> (tensor<64x80xf32>, tensor<64x80xf32>, tensor<f32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0:3 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %b, %z = %c) -> (tensor<64x80xf32>, tensor<64x80xf32>, tensor<f32>) {
    %1 = flow.dispatch @scale::@scale(%x) : (tensor<64x80xf32>) -> tensor<64x80xf32>
    %2 = flow.dispatch @k::@f(%y) : (tensor<64x80xf32>) -> tensor<f32>
    %3 = flow.dispatch @add::@add(%y, %1) : (tensor<64x80xf32>, tensor<64x80xf32>) -> tensor<64x80xf32>
    scf.yield %1, %3, %2 : tensor<64x80xf32>, tensor<64x80xf32>, tensor<f32>
  }
  util.return %0#0, %0#1, %0#2 : tensor<64x80xf32>, tensor<64x80xf32>, tensor<f32>
}

// What is read after its next value is there is not written over.
// CHECK-LABEL: util.func public @read_late
// CHECK:           flow.dispatch @late::@late([[X:%\w+]]) : (tensor<64x80xf32>) -> tensor<64x80xf32>
util.func public @read_late(%a: tensor<64x80xf32>, %n: index) -> tensor<64x80xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant dense<0.0> : tensor<f32>
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %c) -> (tensor<64x80xf32>, tensor<f32>) {
    %1 = flow.dispatch @late::@late(%x) : (tensor<64x80xf32>) -> tensor<64x80xf32>
    %2 = flow.dispatch @k::@f(%x, %1) : (tensor<64x80xf32>, tensor<64x80xf32>) -> tensor<f32>
    scf.yield %1, %2 : tensor<64x80xf32>, tensor<f32>
  }
  util.return %0#0 : tensor<64x80xf32>
}
