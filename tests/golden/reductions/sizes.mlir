// Kernels of symbolic sizes take the values of variables after their arrays.
// RUN: --pipeline "reductions{workers=2},dynamic-shapes,cse"
// CHECK:      stream.executable private @reduction
// CHECK:      func.func @reduction(%arg0: !stream.binding, %arg1: !stream.binding, %arg2: i64)
// CHECK:      memref<?xf32, strided<[1], offset: ?>>
func.func @main(%x: tensor<?x100xf32, #irax.sizes<"batch, 100">>) -> tensor<?xf32, #irax.sizes<"batch">> {
  // CHECK: func.func @main
  // CHECK: [[BATCH:%\w+]] = tensor.dim %arg0
  // CHECK: [[N:%\w+]] = util.assume.int [[BATCH]]<umin = 1, umax = 2147483647> : index
  // CHECK: [[VALUE:%\w+]] = arith.index_cast [[BATCH]] : index to i64
  // CHECK: [[X:%\w+]] = flow.tensor.tie_shape %arg0 : tensor<?x100xf32>{[[N]]}
  // CHECK: flow.dispatch @reduction::@reduction([[X]], [[VALUE]]) : (tensor<?x100xf32>{[[N]]}, i64) -> tensor<?xf32>{[[N]]}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x100xf32, #irax.sizes<"batch, 100">>, tensor<f32>) -> tensor<?xf32, #irax.sizes<"batch">>
  return %0 : tensor<?xf32, #irax.sizes<"batch">>
}
