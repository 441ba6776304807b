module @jit_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<3xcomplex<f32>>
    %1 = stablehlo.exponential %0 : tensor<3xcomplex<f32>>
    %2 = stablehlo.multiply %0, %0 : tensor<3xcomplex<f32>>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
    %4 = stablehlo.add %3, %2 : tensor<3xcomplex<f32>>
    %5 = stablehlo.divide %1, %4 : tensor<3xcomplex<f32>>
    %6 = stablehlo.real %5 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %7 = stablehlo.imag %5 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %8 = call @angle(%5) : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    return %6, %7, %8 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  func.func private @angle(%arg0: tensor<3xcomplex<f32>>) -> tensor<3xf32> {
    %0 = stablehlo.real %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %1 = stablehlo.imag %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %2 = stablehlo.atan2 %1, %0 : tensor<3xf32>
    return %2 : tensor<3xf32>
  }
}
