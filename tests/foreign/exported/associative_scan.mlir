module @jit_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>) -> (tensor<5xf32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.tanh %arg0 : tensor<5xf32>
    %1 = stablehlo.slice %0 [0:4:2] : (tensor<5xf32>) -> tensor<2xf32>
    %2 = stablehlo.slice %arg1 [0:4:2] : (tensor<5xf32>) -> tensor<2xf32>
    %3 = stablehlo.slice %0 [1:5:2] : (tensor<5xf32>) -> tensor<2xf32>
    %4 = stablehlo.slice %arg1 [1:5:2] : (tensor<5xf32>) -> tensor<2xf32>
    %5 = stablehlo.multiply %1, %3 : tensor<2xf32>
    %6 = stablehlo.multiply %3, %2 : tensor<2xf32>
    %7 = stablehlo.add %6, %4 : tensor<2xf32>
    %8 = stablehlo.slice %7 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %9 = stablehlo.slice %5 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
    %10 = stablehlo.slice %7 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
    %11 = stablehlo.multiply %9, %8 : tensor<1xf32>
    %12 = stablehlo.add %11, %10 : tensor<1xf32>
    %13 = stablehlo.slice %12 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
    %14 = stablehlo.slice %5 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
    %15 = stablehlo.slice %7 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
    %16 = stablehlo.multiply %14, %13 : tensor<0xf32>
    %17 = stablehlo.add %16, %15 : tensor<0xf32>
    %18 = stablehlo.slice %7 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %19 = stablehlo.concatenate %18, %17, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.pad %19, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.pad %12, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %22 = stablehlo.add %20, %21 : tensor<2xf32>
    %23 = stablehlo.slice %0 [2:5:2] : (tensor<5xf32>) -> tensor<2xf32>
    %24 = stablehlo.slice %arg1 [2:5:2] : (tensor<5xf32>) -> tensor<2xf32>
    %25 = stablehlo.multiply %23, %22 : tensor<2xf32>
    %26 = stablehlo.add %25, %24 : tensor<2xf32>
    %27 = stablehlo.slice %arg1 [0:1] : (tensor<5xf32>) -> tensor<1xf32>
    %28 = stablehlo.concatenate %27, %26, dim = 0 : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.pad %28, %cst_1, low = [0], high = [0], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.pad %22, %cst_2, low = [1], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
    %31 = stablehlo.add %29, %30 : tensor<5xf32>
    return %31 : tensor<5xf32>
  }
}
