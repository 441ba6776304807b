// RUN: --pipeline "alignments"

// In a program for all sizes, IREE's alignments of offsets are not kept.
util.func public @main() attributes {iree.reflection = {irax.largest_size = "2147483647"}} {
  util.return
}
stream.executable private @k {
  stream.executable.export public @f
  builtin.module {
    func.func @f(%array: !stream.binding {stream.alignment = 64 : index}, %offset: i64) {
      %0 = arith.index_castui %offset {stream.alignment = 64 : index} : i64 to index
      %1 = stream.binding.subspan %array[%0] : !stream.binding -> memref<4xf32, strided<[1], offset: ?>>
      return
    }
  }
}
// CHECK:      func.func @f(%arg0: !stream.binding {stream.alignment = 64 : index}, %arg1: i64)
// CHECK-NEXT:   arith.index_castui %arg1 : i64 to index
