// A table of 40 numbers is in three registers, which AVX-512 permutes: 16 elements at a time.
// CHIP: x86-64-v4
// RUN: --pipeline "legalize{target=iree-cpu}"
// CHECK:      stream.executable private @gather_
// CHECK:        vector.gather
// CHECK:      stream.executable private @[[TABLE:gather_\w+]]
// CHECK-COUNT-2: vector.load
// CHECK:        vector.maskedload
// CHECK:        scf.for
// CHECK:        [[FIRST:%\w+]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.d.512"
// CHECK:        [[LAST:%\w+]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.d.512"
// CHECK:        arith.select {{%\w+}}, [[LAST]], [[FIRST]]
func.func @table(%x: tensor<40xf32>, %i: tensor<40000xi32>) -> tensor<40000xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<40xf32>, tensor<40000xi32>) -> tensor<40000xf32>
  return %0 : tensor<40000xf32>
}
// CHECK:      func.func @table
// CHECK:        flow.dispatch @[[TABLE]]::@[[TABLE]]

// Larger ones are read from memory.
func.func @large(%x: tensor<200xf32>, %i: tensor<40000xi32>) -> tensor<40000xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xf32>, tensor<40000xi32>) -> tensor<40000xf32>
  return %0 : tensor<40000xf32>
}
