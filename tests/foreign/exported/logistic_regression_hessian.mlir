module @jit_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4x4xf32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %1 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %3 = stablehlo.add %0, %2 : tensor<4x4xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %5 = stablehlo.convert %4 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %6 = stablehlo.slice %5 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = stablehlo.convert %6 : tensor<4x4xf32>
    %8 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %9 = stablehlo.dot_general %7, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %10 = stablehlo.negate %8 : tensor<f32>
    %11 = stablehlo.negate %9 : tensor<4xf32>
    %12 = stablehlo.exponential %10 : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.add %12, %cst : tensor<f32>
    %16 = stablehlo.iota dim = 0 : tensor<1x1xi32>
    %17 = stablehlo.iota dim = 1 : tensor<1x1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %19 = stablehlo.add %16, %18 : tensor<1x1xi32>
    %20 = stablehlo.compare EQ, %19, %17, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %21 = stablehlo.convert %20 : (tensor<1x1xi1>) -> tensor<1x1xf32>
    %22 = stablehlo.slice %21 [0:1, 0:1] : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %23 = stablehlo.reshape %22 : (tensor<1x1xf32>) -> tensor<1xf32>
    %24 = stablehlo.convert %23 : tensor<1xf32>
    %25 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %26 = stablehlo.divide %24, %25 : tensor<1xf32>
    %27 = stablehlo.negate %14 : tensor<4xf32>
    %28 = stablehlo.broadcast_in_dim %24, dims = [1] : (tensor<1xf32>) -> tensor<1x1xf32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %30 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<4x1xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<4x1xf32>
    %32 = stablehlo.multiply %15, %15 : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.divide %cst_1, %32 : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %35 = stablehlo.multiply %31, %34 : tensor<4x1xf32>
    %36 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<4x1xf32>
    %38 = stablehlo.broadcast_in_dim %26, dims = [1] : (tensor<1xf32>) -> tensor<1x1xf32>
    %39 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %40 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<4x1xf32>
    %41 = stablehlo.multiply %40, %39 : tensor<4x1xf32>
    %42 = stablehlo.add %37, %41 : tensor<4x1xf32>
    %43 = stablehlo.negate %42 : tensor<4x1xf32>
    %44 = stablehlo.dot_general %43, %arg1, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<4x1xf32>, tensor<4xf32>) -> tensor<4x1x4xf32>
    %45 = stablehlo.slice %44 [0:4, 0:1, 0:4] : (tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
    %46 = stablehlo.reshape %45 : (tensor<4x1x4xf32>) -> tensor<4x4xf32>
    %47 = stablehlo.transpose %46, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %48 = stablehlo.slice %47 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %48 : tensor<4x4xf32>
  }
}
