// Symbolic sizes get values: in types, in parameters of operations, in functions that are called,
// and where the value of a dimension is asked for.

// RUN: --pipeline "refine{sizes=n=4,batch=8}"

func.func @main(%x: tensor<?x?xf32, #irax.sizes<"batch, 2*n">>) -> tensor<?xf32, #irax.sizes<"batch">> {
  %0 = "irax.slice"(%x) {start_indices = array<i64: 0, 1>, limit_indices = #irax.sizes<"batch, n + 1">, strides = array<i64: 1, 1>} : (tensor<?x?xf32, #irax.sizes<"batch, 2*n">>) -> tensor<?x?xf32, #irax.sizes<"batch, n">>
  %1 = "irax.dimension"() {size = #irax.size<"floordiv(batch*n, 3)">} : () -> tensor<f32>
  %2 = func.call @sum(%0, %1) : (tensor<?x?xf32, #irax.sizes<"batch, n">>, tensor<f32>) -> tensor<?xf32, #irax.sizes<"batch">>
  return %2 : tensor<?xf32, #irax.sizes<"batch">>
}
func.func private @sum(%x: tensor<?x?xf32, #irax.sizes<"batch, n">>, %init: tensor<f32>) -> tensor<?xf32, #irax.sizes<"batch">> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32, #irax.sizes<"batch, n">>, tensor<f32>) -> tensor<?xf32, #irax.sizes<"batch">>
  return %0 : tensor<?xf32, #irax.sizes<"batch">>
}

// CHECK:      func.func @main([[X:%\w+]]: tensor<8x8xf32>) -> tensor<8xf32>
// CHECK-NEXT:   [[PART:%\w+]] = stablehlo.slice [[X]] [0:8, 1:5] : (tensor<8x8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:   [[INIT:%\w+]] = stablehlo.constant dense<1.000000e+01> : tensor<f32>
// CHECK-NEXT:   call @sum([[PART]], [[INIT]]) : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK:      func.func private @sum([[Y:%\w+]]: tensor<8x4xf32>, [[START:%\w+]]: tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:   stablehlo.reduce([[Y]] init: [[START]])
// CHECK-SAME:   -> tensor<8xf32>
