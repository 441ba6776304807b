// RUN: --pipeline "alignments"

// In other programs they are.
util.func public @main() attributes {iree.reflection = {irax.driver = "sync"}} {
  util.return
}
func.func @f(%offset: i64) -> index {
  %0 = arith.index_castui %offset {stream.alignment = 64 : index} : i64 to index
  return %0 : index
}
// CHECK: arith.index_castui %arg0 {stream.alignment = 64 : index} : i64 to index
