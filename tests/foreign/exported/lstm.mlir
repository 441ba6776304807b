module @jit_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2x3xf32>, %arg1: tensor<5x12xf32>, %arg2: tensor<12xf32>, %arg3: tensor<2x2xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.slice %arg1 [0:5, 0:8] : (tensor<5x12xf32>) -> tensor<5x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:6 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %0, %iterArg_2 = %arg2, %iterArg_3 = %c, %iterArg_4 = %arg3, %iterArg_5 = %1) : tensor<4x2x3xf32>, tensor<5x8xf32>, tensor<12xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>
    cond {
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %5 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<4x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %6:2 = func.call @closed_call(%iterArg_1, %iterArg_2, %iterArg_4, %iterArg_5, %5) : (tensor<5x8xf32>, tensor<12xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %iterArg_2, %7, %6#0, %6#1 : tensor<4x2x3xf32>, tensor<5x8xf32>, tensor<12xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>
    }
    %3 = stablehlo.multiply %2#4, %2#5 : tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x2x3xf32>, %arg1: tensor<i32>) -> tensor<2x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 3] : (tensor<4x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<5x8xf32>, %arg1: tensor<12xf32>, %arg2: tensor<2x2xf32>, %arg3: tensor<2x2xf32>, %arg4: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = stablehlo.concatenate %arg4, %arg2, dim = 1 : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5xf32>, tensor<5x8xf32>) -> tensor<2x8xf32>
    %2 = stablehlo.slice %arg1 [0:8] : (tensor<12xf32>) -> tensor<8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
    %5 = stablehlo.add %1, %4 : tensor<2x8xf32>
    %6 = stablehlo.slice %5 [0:2, 0:2] : (tensor<2x8xf32>) -> tensor<2x2xf32>
    %7 = stablehlo.slice %5 [0:2, 2:4] : (tensor<2x8xf32>) -> tensor<2x2xf32>
    %8 = stablehlo.slice %5 [0:2, 4:6] : (tensor<2x8xf32>) -> tensor<2x2xf32>
    %9 = stablehlo.slice %5 [0:2, 6:8] : (tensor<2x8xf32>) -> tensor<2x2xf32>
    %10 = stablehlo.negate %7 : tensor<2x2xf32>
    %11 = stablehlo.exponential %10 : tensor<2x2xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %13 = stablehlo.add %12, %11 : tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %15 = stablehlo.divide %14, %13 : tensor<2x2xf32>
    %16 = stablehlo.multiply %15, %arg3 : tensor<2x2xf32>
    %17 = stablehlo.negate %6 : tensor<2x2xf32>
    %18 = stablehlo.exponential %17 : tensor<2x2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %20 = stablehlo.add %19, %18 : tensor<2x2xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %22 = stablehlo.divide %21, %20 : tensor<2x2xf32>
    %23 = stablehlo.tanh %8 : tensor<2x2xf32>
    %24 = stablehlo.multiply %22, %23 : tensor<2x2xf32>
    %25 = stablehlo.add %16, %24 : tensor<2x2xf32>
    %26 = stablehlo.negate %9 : tensor<2x2xf32>
    %27 = stablehlo.exponential %26 : tensor<2x2xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %29 = stablehlo.add %28, %27 : tensor<2x2xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %31 = stablehlo.divide %30, %29 : tensor<2x2xf32>
    %32 = stablehlo.tanh %25 : tensor<2x2xf32>
    %33 = stablehlo.multiply %31, %32 : tensor<2x2xf32>
    return %33, %25 : tensor<2x2xf32>, tensor<2x2xf32>
  }
}
