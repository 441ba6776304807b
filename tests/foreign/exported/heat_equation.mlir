module @jit_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result[0]"}, tensor<7xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0, %iterArg_1 = %0) : tensor<i32>, tensor<10xf32>, tensor<7xf32>
    cond {
      %c_2 = stablehlo.constant dense<7> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call(%iterArg_0) : (tensor<10xf32>) -> (tensor<10xf32>, tensor<f32>)
      %3 = func.call @dynamic_update_index_in_dim(%iterArg_1, %2#1, %iterArg) : (tensor<7xf32>, tensor<f32>, tensor<i32>) -> tensor<7xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      stablehlo.return %4, %2#0, %3 : tensor<i32>, tensor<10xf32>, tensor<7xf32>
    }
    return %1#1, %1#2 : tensor<10xf32>, tensor<7xf32>
  }
  func.func private @closed_call(%arg0: tensor<10xf32>) -> (tensor<10xf32>, tensor<f32>) {
    %0 = call @_roll_static(%arg0) : (tensor<10xf32>) -> tensor<10xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<10xf32>
    %4 = call @_roll_static_0(%arg0) : (tensor<10xf32>) -> tensor<10xf32>
    %5 = stablehlo.add %3, %4 : tensor<10xf32>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<10xf32>
    %8 = stablehlo.add %arg0, %7 : tensor<10xf32>
    %9 = stablehlo.slice %8 [5:6] : (tensor<10xf32>) -> tensor<1xf32>
    %10 = stablehlo.reshape %9 : (tensor<1xf32>) -> tensor<f32>
    return %8, %10 : tensor<10xf32>, tensor<f32>
  }
  func.func private @_roll_static(%arg0: tensor<10xf32>) -> tensor<10xf32> {
    %0 = stablehlo.slice %arg0 [9:10] : (tensor<10xf32>) -> tensor<1xf32>
    %1 = stablehlo.slice %arg0 [0:9] : (tensor<10xf32>) -> tensor<9xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xf32>, tensor<9xf32>) -> tensor<10xf32>
    return %2 : tensor<10xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<10xf32>) -> tensor<10xf32> {
    %0 = stablehlo.slice %arg0 [1:10] : (tensor<10xf32>) -> tensor<9xf32>
    %1 = stablehlo.slice %arg0 [0:1] : (tensor<10xf32>) -> tensor<1xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<9xf32>, tensor<1xf32>) -> tensor<10xf32>
    return %2 : tensor<10xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<7xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<7xf32>, tensor<1xf32>, tensor<i32>) -> tensor<7xf32>
    return %1 : tensor<7xf32>
  }
}
