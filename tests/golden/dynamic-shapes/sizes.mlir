// Sizes follow from those of arguments, once, at the beginning; operations with symbolic parameters
// become StableHLO's dynamic ones, or those of tensor and flow.

// RUN: --pipeline "dynamic-shapes,cse"

func.func @main(%x: tensor<?x4xf32, #irax.sizes<"2*n, 4">>) -> (tensor<?x4xf32, #irax.sizes<"2*n, 4">>, tensor<?xf32, #irax.sizes<"8*n">>, tensor<?x4xf32, #irax.sizes<"n, 4">>, tensor<i32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "irax.broadcast_in_dim"(%one) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<?x4xf32, #irax.sizes<"2*n, 4">>
  %1 = stablehlo.add %x, %0 : tensor<?x4xf32, #irax.sizes<"2*n, 4">>
  %2 = "irax.reshape"(%x) : (tensor<?x4xf32, #irax.sizes<"2*n, 4">>) -> tensor<?xf32, #irax.sizes<"8*n">>
  %3 = "irax.slice"(%x) {start_indices = #irax.sizes<"n, 0">, limit_indices = #irax.sizes<"2*n, 4">, strides = array<i64: 1, 1>} : (tensor<?x4xf32, #irax.sizes<"2*n, 4">>) -> tensor<?x4xf32, #irax.sizes<"n, 4">>
  %4 = "irax.dimension"() {size = #irax.size<"floordiv(n, 3)">} : () -> tensor<i32>
  return %1, %2, %3, %4 : tensor<?x4xf32, #irax.sizes<"2*n, 4">>, tensor<?xf32, #irax.sizes<"8*n">>, tensor<?x4xf32, #irax.sizes<"n, 4">>, tensor<i32>
}

// CHECK:      func.func @main([[ARG:%\w+]]: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?x4xf32>, tensor<i32>)
// CHECK-SAME: irax.largest_size = "2147483647"
// CHECK:      [[SIZE:%\w+]] = tensor.dim [[ARG]], %c0
// CHECK:      [[N:%\w+]] = arith.divsi [[SIZE]]
// CHECK:      [[DOUBLE:%\w+]] = arith.muli {{.*}}[[N]]
// CHECK:      [[ROWS:%\w+]] = util.assume.int [[DOUBLE]]<umin = 2, umax = 4294967294> : index
// CHECK:      [[LENGTH:%\w+]] = util.assume.int {{%\w+}}<umin = 8, umax = 17179869176> : index
// CHECK:      [[PART:%\w+]] = util.assume.int [[N]]<umin = 1, umax = 2147483647> : index
// CHECK:      [[X:%\w+]] = flow.tensor.tie_shape [[ARG]] : tensor<?x4xf32>{[[ROWS]]}
// CHECK:      stablehlo.dynamic_broadcast_in_dim %cst
// CHECK-SAME: -> tensor<?x4xf32>
// CHECK-NEXT: stablehlo.add [[X]]
// CHECK:      flow.tensor.reshape [[X]] : tensor<?x4xf32>{[[ROWS]]} -> tensor<?xf32>{[[LENGTH]]}
// CHECK:      tensor.extract_slice [[X]]{{\[}}[[N]], 0] {{\[}}[[PART]], 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
