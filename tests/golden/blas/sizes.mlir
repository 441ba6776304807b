// Products of symbolic sizes take the values of variables after their arrays.
// RUN: --pipeline "blas{workers=2 always=true},dynamic-shapes,cse"
// CHECK:      stream.executable private @product
// CHECK:      func.func @product(%arg0: !stream.binding, %arg1: !stream.binding, %arg2: !stream.binding, %arg3: !stream.binding, %arg4: i64)
// CHECK:      stream.binding.subspan %arg0[{{.*}}] : !stream.binding -> memref<?xi8, strided<[1], offset: ?>>
// CHECK:      call @scipy_cblas_sgemm64_
func.func @main(%x: tensor<?x64xf32, #irax.sizes<"batch, 64">>, %w: tensor<64x48xf32>, %b: tensor<48xf32>) -> tensor<?x48xf32, #irax.sizes<"batch, 48">> {
  // CHECK: func.func @main
  // CHECK: [[BATCH:%\w+]] = tensor.dim %arg0
  // CHECK: [[N:%\w+]] = util.assume.int [[BATCH]]<umin = 1, umax = 2147483647> : index
  // CHECK: [[VALUE:%\w+]] = arith.index_cast [[BATCH]] : index to i64
  // CHECK: [[X:%\w+]] = flow.tensor.tie_shape %arg0 : tensor<?x64xf32>{[[N]]}
  // CHECK: flow.dispatch @product::@product([[X]], %arg1, %arg2, [[VALUE]]) : (tensor<?x64xf32>{[[N]]}, tensor<64x48xf32>, tensor<48xf32>, i64) -> tensor<?x48xf32>{[[N]]}
  // CHECK-NEXT: return
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32, #irax.sizes<"batch, 64">>, tensor<64x48xf32>) -> tensor<?x48xf32, #irax.sizes<"batch, 48">>
  %1 = "irax.broadcast_in_dim"(%b) {broadcast_dimensions = array<i64: 1>} : (tensor<48xf32>) -> tensor<?x48xf32, #irax.sizes<"batch, 48">>
  %2 = stablehlo.add %0, %1 : tensor<?x48xf32, #irax.sizes<"batch, 48">>
  return %2 : tensor<?x48xf32, #irax.sizes<"batch, 48">>
}
