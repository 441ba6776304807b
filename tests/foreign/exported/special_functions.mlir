module @jit_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}) {
    %0 = chlo.lgamma %arg0 : tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.erf %arg1 : tensor<4xf32> -> tensor<4xf32>
    %2 = stablehlo.add %0, %1 : tensor<4xf32>
    %3 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
    %4 = chlo.digamma %3 : tensor<4xf32> -> tensor<4xf32>
    %5 = stablehlo.subtract %2, %4 : tensor<4xf32>
    %6 = stablehlo.subtract %arg0, %arg1 : tensor<4xf32>
    %7 = stablehlo.negate %6 : tensor<4xf32>
    %8 = stablehlo.exponential %7 : tensor<4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %10 = stablehlo.add %9, %8 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %12 = stablehlo.divide %11, %10 : tensor<4xf32>
    return %5, %12 : tensor<4xf32>, tensor<4xf32>
  }
}
