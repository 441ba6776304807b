// RUN: --pipeline "merge-kernels{many=2}"

#map = affine_map<(d0) -> (d0)>

// Two kernels that multiply and add, by other numbers, are one. Divisions of integers by a number
// are faster where it is known.
flow.executable private @k0 {
  flow.executable.export public @k0_elementwise
  builtin.module {
    func.func @k0_elementwise(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>, %y: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>) {
      %c = arith.constant 3.0 : f32
      %d = arith.constant 1.0 : f32
      %0 = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %1 = tensor.empty() : tensor<4xf32>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%1 : tensor<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %3 = arith.mulf %in, %c : f32
        %4 = arith.addf %3, %d : f32
        linalg.yield %4 : f32
      } -> tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %2, %y, offsets = [0], sizes = [4], strides = [1] : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
      return
    }
  }
}
flow.executable private @k1 {
  flow.executable.export public @k1_elementwise
  builtin.module {
    func.func @k1_elementwise(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>, %y: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>) {
      %c = arith.constant 3.0 : f32
      %d = arith.constant 2.0 : f32
      %0 = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>> -> tensor<4xf32>
      %1 = tensor.empty() : tensor<4xf32>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%1 : tensor<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %3 = arith.mulf %in, %c : f32
        %4 = arith.addf %3, %d : f32
        linalg.yield %4 : f32
      } -> tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %2, %y, offsets = [0], sizes = [4], strides = [1] : tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xf32>>
      return
    }
  }
}
flow.executable private @d0 {
  flow.executable.export public @d0_elementwise
  builtin.module {
    func.func @d0_elementwise(%x: !iree_tensor_ext.dispatch.tensor<readwrite:tensor<i32>>) {
      %c = arith.constant 3 : i32
      %0 = iree_tensor_ext.dispatch.tensor.load %x, offsets = [], sizes = [], strides = [] : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<i32>> -> tensor<i32>
      %1 = tensor.extract %0[] : tensor<i32>
      %2 = arith.divsi %1, %c : i32
      %3 = tensor.from_elements %2 : tensor<i32>
      iree_tensor_ext.dispatch.tensor.store %3, %x, offsets = [], sizes = [], strides = [] : tensor<i32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<i32>>
      return
    }
  }
}
flow.executable private @d1 {
  flow.executable.export public @d1_elementwise
  builtin.module {
    func.func @d1_elementwise(%x: !iree_tensor_ext.dispatch.tensor<readwrite:tensor<i32>>) {
      %c = arith.constant 5 : i32
      %0 = iree_tensor_ext.dispatch.tensor.load %x, offsets = [], sizes = [], strides = [] : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<i32>> -> tensor<i32>
      %1 = tensor.extract %0[] : tensor<i32>
      %2 = arith.divsi %1, %c : i32
      %3 = tensor.from_elements %2 : tensor<i32>
      iree_tensor_ext.dispatch.tensor.store %3, %x, offsets = [], sizes = [], strides = [] : tensor<i32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<i32>>
      return
    }
  }
}
util.func public @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %0 = flow.dispatch @k0::@k0_elementwise(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = flow.dispatch @k1::@k1_elementwise(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = flow.dispatch @k0::@k0_elementwise(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = flow.dispatch @d0::@d0_elementwise(%n) : (tensor<i32>) -> %n
  %4 = flow.dispatch @d1::@d1_elementwise(%3) : (tensor<i32>) -> %3
  util.return %2, %4 : tensor<4xf32>, tensor<i32>
}

// CHECK-LABEL: flow.executable private @k0
// CHECK:         func.func @k0_elementwise(%arg0: {{.*}}readonly{{.*}}, [[D:%\w+]]: f32, {{.*}}writeonly{{.*}})
// CHECK-NEXT:      [[C:%\w+]] = arith.constant 3.0{{.*}} : f32
// CHECK:           [[P:%\w+]] = arith.mulf {{.*}}, [[C]]
// CHECK-NEXT:      arith.addf [[P]], [[D]]
// CHECK-NOT:   flow.executable private @k1
// CHECK:       flow.executable private @d0
// CHECK:         func.func @d0_elementwise(%arg0: {{.*}}readwrite{{.*}}) {
// CHECK:       flow.executable private @d1
// CHECK-LABEL: util.func public @main
// CHECK-NEXT:    [[ONE:%\w+]] = arith.constant 1.0
// CHECK-NEXT:    [[A:%\w+]] = flow.dispatch @k0::@k0_elementwise(%arg0, [[ONE]]) : (tensor<4xf32>, f32) -> tensor<4xf32>
// CHECK-NEXT:    [[TWO:%\w+]] = arith.constant 2.0
// CHECK-NEXT:    [[B:%\w+]] = flow.dispatch @k0::@k0_elementwise([[A]], [[TWO]])
// CHECK-NEXT:    [[AGAIN:%\w+]] = arith.constant 1.0
// CHECK-NEXT:    flow.dispatch @k0::@k0_elementwise([[B]], [[AGAIN]])
