// RUN: --pipeline "anchor"

// A kernel of irax's that takes no array, twice: each dispatch has one more, and so has the kernel.
// Results keep their places.
stream.executable private @k {
  stream.executable.export public @k workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @k(%arg0: !stream.binding, %arg1: !stream.binding, %arg2: i64) {
      %c0 = arith.constant 0 : index
      %0 = stream.binding.subspan %arg1[%c0] : !stream.binding -> memref<6xf32, strided<[1], offset: ?>>
      return
    }
  }
}
// CHECK-LABEL: stream.executable private @k
// CHECK:         func.func @k(%{{.*}}: !stream.binding, %{{.*}}: !stream.binding, [[B:%\w+]]: !stream.binding, %{{.*}}: i64)
// CHECK:           stream.binding.subspan [[B]]

// A kernel of IREE's.
flow.executable private @d {
  flow.executable.export public @d workgroups(%arg0: index) -> (index, index, index) {
    flow.return %arg0, %arg0, %arg0 : index, index, index
  }
  builtin.module {
    func.func @d(%arg0: i32, %arg1: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<6xi32>>) {
      %0 = tensor.splat %arg0 : tensor<6xi32>
      iree_tensor_ext.dispatch.tensor.store %0, %arg1, offsets = [0], sizes = [6], strides = [1] : tensor<6xi32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<6xi32>>
      return
    }
  }
}
// CHECK-LABEL: flow.executable private @d
// CHECK:         func.func @d(%{{.*}}: !iree_tensor_ext.dispatch.tensor<readonly:tensor<1xi32>>, [[N:%\w+]]: i32, [[R:%\w+]]: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<6xi32>>)
// CHECK:           tensor.splat [[N]]
// CHECK:           iree_tensor_ext.dispatch.tensor.store %{{.*}}, [[R]]

// What takes an array stays as it is.
util.func public @main(%n: i64, %i: i32, %w: index, %x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xf32>) {
  %0:2 = flow.dispatch @k::@k(%n) : (i64) -> (tensor<1xi32>, tensor<6xf32>)
  %1:2 = flow.dispatch @k::@k(%n) : (i64) -> (tensor<1xi32>, tensor<6xf32>)
  %2 = flow.dispatch @d::@d[%w](%i) : (i32) -> tensor<6xi32>
  %3 = flow.dispatch @e::@e(%x) : (tensor<6xf32>) -> tensor<6xf32>
  util.return %0#1, %1#1, %2, %3 : tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xf32>
}
// CHECK-LABEL: util.func public @main(
// CHECK:         [[E:%\w+]] = flow.tensor.alloca : tensor<1xi32>
// CHECK-NEXT:    [[K:%\w+]]:2 = flow.dispatch @k::@k([[E]], %{{.*}}) : (tensor<1xi32>, i64) -> (tensor<1xi32>, tensor<6xf32>)
// CHECK-NEXT:    [[F:%\w+]] = flow.tensor.alloca : tensor<1xi32>
// CHECK-NEXT:    [[L:%\w+]]:2 = flow.dispatch @k::@k([[F]], %{{.*}}) : (tensor<1xi32>, i64) -> (tensor<1xi32>, tensor<6xf32>)
// CHECK-NEXT:    [[G:%\w+]] = flow.tensor.alloca : tensor<1xi32>
// CHECK-NEXT:    flow.dispatch @d::@d[%{{.*}}]([[G]], %{{.*}}) : (tensor<1xi32>, i32) -> tensor<6xi32>
// CHECK-NEXT:    flow.dispatch @e::@e(%{{.*}}) : (tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT:    util.return [[K]]#1, [[L]]#1,

// Each kernel has an array of its own, in loops too.
util.func public @loop(%n: index, %i: i64) -> tensor<6xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0:2 = flow.dispatch @k::@k(%i) : (i64) -> (tensor<1xi32>, tensor<6xf32>)
  %1 = scf.for %j = %zero to %n step %one iter_args(%x = %0#1) -> (tensor<6xf32>) {
    %2:2 = flow.dispatch @k::@k(%i) : (i64) -> (tensor<1xi32>, tensor<6xf32>)
    %3 = flow.dispatch @e::@e(%2#1, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    scf.yield %3 : tensor<6xf32>
  }
  util.return %1 : tensor<6xf32>
}
// CHECK-LABEL: util.func public @loop(
// CHECK:         [[E:%\w+]] = flow.tensor.alloca : tensor<1xi32>
// CHECK-NEXT:    flow.dispatch @k::@k([[E]],
// CHECK:         scf.for
// CHECK-NEXT:      [[F:%\w+]] = flow.tensor.alloca : tensor<1xi32>
// CHECK-NEXT:      flow.dispatch @k::@k([[F]],
