// Kernels begin where the kernel before has ended, if they have large arrays in common.
// RUN: --pipeline "reverse-traversal"
// CHECK:      stream.executable private @second
// CHECK:        %[[X:.*]] = stream.dispatch.workgroup.id[0]
// CHECK-NEXT:   %[[LAST:.*]] = arith.constant 7
// CHECK-NEXT:   %[[TURNED:.*]] = arith.subi %[[LAST]], %[[X]]
// CHECK-NEXT:   %[[Y:.*]] = stream.dispatch.workgroup.id[1]
// CHECK-NEXT:   arith.addi %[[TURNED]], %[[Y]]
// CHECK:      stream.executable private @first
// CHECK-NOT:    arith.subi
// CHECK:      stream.executable private @alone
// CHECK-NOT:    arith.subi
stream.executable private @second {
  stream.executable.export public @second workgroups() -> (index, index, index) {
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    stream.return %c8, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @second(%x: !stream.binding, %y: !stream.binding) {
      %0 = stream.dispatch.workgroup.id[0] : index
      %1 = stream.dispatch.workgroup.id[1] : index
      %2 = arith.addi %0, %1 : index
      return
    }
  }
}
stream.executable private @first {
  stream.executable.export public @first workgroups() -> (index, index, index) {
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    stream.return %c8, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @first(%x: !stream.binding, %y: !stream.binding) {
      %0 = stream.dispatch.workgroup.id[0] : index
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
      %0 = stream.dispatch.workgroup.id[0] : index
      return
    }
  }
}
func.func @in_turns(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %0 = flow.dispatch @first::@first(%x) : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %1 = stablehlo.reshape %0 : (tensor<512x1024xf32>) -> tensor<1024x512xf32>
  %2 = flow.dispatch @second::@second(%1) : (tensor<1024x512xf32>) -> %1
  %3 = stablehlo.reshape %2 : (tensor<1024x512xf32>) -> tensor<512x1024xf32>
  // It ends at the start, where this one begins.
  %4 = flow.dispatch @first::@first(%3) : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  // A kernel of one workgroup has no other way.
  %5 = flow.dispatch @alone::@alone(%4) : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %5 : tensor<512x1024xf32>
}
