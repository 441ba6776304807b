// A kernel of which each element of the result is computed from the same place of an operand writes
// over that, where an earlier kernel made it, and no other operation uses it. What it writes over
// is its destination.
// RUN: --pipeline "overwrite"

#same = affine_map<(d0, d1) -> (d0, d1)>
#other = affine_map<(d0, d1) -> (d1, d0)>

// CHECK:      func.func @minus(%[[Y:.*]]: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %[[X:.*]]: !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4x4xf32>>) {
// CHECK:        %[[OLD:.*]] = iree_tensor_ext.dispatch.tensor.load %[[X]]
// CHECK:        linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<4x4xf32>) outs(%[[OLD]] : tensor<4x4xf32>)
// CHECK-NEXT:   ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT:     arith.subf %[[OUT]], %[[IN]]
// CHECK:        iree_tensor_ext.dispatch.tensor.store %{{.*}}, %[[X]]
flow.executable private @minus {
  flow.executable.export public @minus
  builtin.module {
    func.func @minus(%y: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %y_all = iree_tensor_ext.dispatch.tensor.load %y, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#other, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%y_all, %x_all : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_y: f32, %in_x: f32, %out: f32):
        %0 = arith.subf %in_x, %in_y : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @of_argument({{.*}}readonly{{.*}}writeonly
flow.executable private @of_argument {
  flow.executable.export public @of_argument
  builtin.module {
    func.func @of_argument(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @of_used({{.*}}readonly{{.*}}writeonly
flow.executable private @of_used {
  flow.executable.export public @of_used
  builtin.module {
    func.func @of_used(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @in_loop({{.*}}readonly{{.*}}writeonly
flow.executable private @in_loop {
  flow.executable.export public @in_loop
  builtin.module {
    func.func @in_loop(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @made({{.*}}readonly{{.*}}writeonly
flow.executable private @made {
  flow.executable.export public @made
  builtin.module {
    func.func @made(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @alone({{.*}}readonly{{.*}}writeonly
flow.executable private @alone {
  flow.executable.export public @alone
  builtin.module {
    func.func @alone(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @of_equal({{.*}}readonly{{.*}}writeonly
flow.executable private @of_equal {
  flow.executable.export public @of_equal
  builtin.module {
    func.func @of_equal(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @invariant({{.*}}readonly{{.*}}writeonly
flow.executable private @invariant {
  flow.executable.export public @invariant
  builtin.module {
    func.func @invariant(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @of_invariant({{.*}}readonly{{.*}}writeonly
flow.executable private @of_invariant {
  flow.executable.export public @of_invariant
  builtin.module {
    func.func @of_invariant(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK:      func.func @transposed({{.*}}readonly{{.*}}writeonly
flow.executable private @transposed {
  flow.executable.export public @transposed
  builtin.module {
    func.func @transposed(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>>, %r: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>) {
      %x_all = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32>> -> tensor<4x4xf32>
      %empty = tensor.empty() : tensor<4x4xf32>
      %all = linalg.generic {indexing_maps = [#other, #same], iterator_types = ["parallel", "parallel"]} ins(%x_all : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
      ^bb0(%in_x: f32, %out: f32):
        %0 = arith.negf %in_x : f32
        linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      iree_tensor_ext.dispatch.tensor.store %all, %r, offsets = [0, 0], sizes = [4, 4], strides = [1, 1] : tensor<4x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x4xf32>>
      return
    }
  }
}
// CHECK: util.func public @main
util.func public @main(%x: tensor<4x4xf32>, %more: i1) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: [[ONE:%\w+]] = flow.dispatch @alone::@alone(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %one = flow.dispatch @alone::@alone(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: flow.dispatch @minus::@minus(%arg0, [[ONE]]) : (tensor<4x4xf32>, tensor<4x4xf32>) -> [[ONE]]
  %two = flow.dispatch @minus::@minus(%x, %one) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: flow.dispatch @of_argument::@of_argument({{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %three = flow.dispatch @of_argument::@of_argument(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: flow.dispatch @of_used::@of_used({{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %four = flow.dispatch @of_used::@of_used(%three) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: [[MADE:%\w+]] = flow.dispatch @made::@made(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %five = flow.dispatch @made::@made(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: flow.dispatch @transposed::@transposed([[MADE]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %six = flow.dispatch @transposed::@transposed(%five) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // IREE may merge what makes this operand with what made another one.
  %equal = flow.dispatch @made::@made(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: flow.dispatch @of_equal::@of_equal({{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %of_equal = flow.dispatch @of_equal::@of_equal(%equal) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %seven = flow.dispatch @made::@made(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %last = scf.while (%before = %x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK: flow.dispatch @in_loop::@in_loop({{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %next = flow.dispatch @in_loop::@in_loop(%seven) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // It may take this one out of the loop.
    %invariant = flow.dispatch @invariant::@invariant(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK: flow.dispatch @of_invariant::@of_invariant({{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %again = flow.dispatch @of_invariant::@of_invariant(%invariant) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.condition(%more) %next : tensor<4x4xf32>
  } do {
  ^bb0(%after: tensor<4x4xf32>):
    scf.yield %after : tensor<4x4xf32>
  }
  util.return %two, %three, %six, %last : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
