// Small arrays stay in the caches as they are, and other arrays are not in them.
// RUN: --pipeline "reverse-traversal"
// CHECK-NOT: arith.subi
stream.executable private @kernel {
  stream.executable.export public @kernel workgroups() -> (index, index, index) {
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    stream.return %c8, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @kernel(%x: !stream.binding, %y: !stream.binding) {
      %0 = stream.dispatch.workgroup.id[0] : index
      return
    }
  }
}
stream.executable private @other {
  stream.executable.export public @other workgroups() -> (index, index, index) {
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    stream.return %c8, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @other(%x: !stream.binding, %y: !stream.binding) {
      %0 = stream.dispatch.workgroup.id[0] : index
      return
    }
  }
}
func.func @main(%x: tensor<512x1024xf32>, %y: tensor<512x1024xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.add %x, %x : tensor<512x1024xf32>
  %1 = flow.dispatch @kernel::@kernel(%y) : (tensor<512x1024xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %z, %z : tensor<8x8xf32>
  %3 = flow.dispatch @other::@other(%2) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}
