// A loop begins with arrays in memory of their own, and its results have the sizes that it began
// with. What depends on no array begins it as it is.

// RUN: --pipeline "dynamic-shapes,cse"

func.func @main(%x: tensor<?xf32, #irax.sizes<"n">>, %count: tensor<i32>) -> (tensor<?xf32, #irax.sizes<"n">>, tensor<?xf32, #irax.sizes<"n">>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %zeros = "irax.broadcast_in_dim"(%zero) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<?xf32, #irax.sizes<"n">>
  %0:3 = stablehlo.while(%i = %first, %y = %zeros, %c = %x) : tensor<i32>, tensor<?xf32, #irax.sizes<"n">>, tensor<?xf32, #irax.sizes<"n">>
  cond {
    %1 = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %c, %i, sizes = [1] : (tensor<?xf32, #irax.sizes<"n">>, tensor<i32>) -> tensor<1xf32>
    %2 = stablehlo.dynamic_update_slice %y, %1, %i : (tensor<?xf32, #irax.sizes<"n">>, tensor<1xf32>, tensor<i32>) -> tensor<?xf32, #irax.sizes<"n">>
    %3 = stablehlo.add %i, %one : tensor<i32>
    %4 = stablehlo.add %c, %c : tensor<?xf32, #irax.sizes<"n">>
    stablehlo.return %3, %2, %4 : tensor<i32>, tensor<?xf32, #irax.sizes<"n">>, tensor<?xf32, #irax.sizes<"n">>
  }
  return %0#1, %0#2 : tensor<?xf32, #irax.sizes<"n">>, tensor<?xf32, #irax.sizes<"n">>
}

// CHECK:      [[N:%\w+]] = util.assume.int
// CHECK:      [[X:%\w+]] = flow.tensor.tie_shape %arg0 : tensor<?xf32>{[[N]]}
// CHECK:      [[ZEROS:%\w+]] = stablehlo.dynamic_broadcast_in_dim %cst
// CHECK:      [[LOOP:%\w+]]:3 = stablehlo.while({{.*}}, [[Y:%\w+]] = [[ZEROS]], {{.*}} = [[X]])
// CHECK:      [[CARRIED:%\w+]] = flow.tensor.tie_shape [[Y]] : tensor<?xf32>{[[N]]}
// CHECK:      tensor.insert_slice {{.*}} into [[CARRIED]]
// CHECK:      flow.tensor.tie_shape [[LOOP]]#1 : tensor<?xf32>{[[N]]}
// CHECK:      flow.tensor.tie_shape [[LOOP]]#2 : tensor<?xf32>{[[N]]}
