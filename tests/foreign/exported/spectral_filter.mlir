module @jit_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x9xf32>, %arg1: tensor<3xf32>) -> (tensor<2x9xf32> {jax.result_info = "result[0]"}) {
    %0 = call @fft(%arg0) : (tensor<2x9xf32>) -> tensor<2x5xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.convert %arg1 : (tensor<3xf32>) -> tensor<3xcomplex<f32>>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %4 = "stablehlo.scatter"(%0, %1, %3) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<complex<f32>>, %arg3: tensor<complex<f32>>):
      %7 = stablehlo.multiply %arg2, %arg3 : tensor<complex<f32>>
      stablehlo.return %7 : tensor<complex<f32>>
    }) : (tensor<2x5xcomplex<f32>>, tensor<1xi32>, tensor<2x3xcomplex<f32>>) -> tensor<2x5xcomplex<f32>>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %5 = call @_pad(%4, %c_0) : (tensor<2x5xcomplex<f32>>, tensor<i32>) -> tensor<2x5xcomplex<f32>>
    %6 = call @fft_0(%5) : (tensor<2x5xcomplex<f32>>) -> tensor<2x9xf32>
    return %6 : tensor<2x9xf32>
  }
  func.func private @fft(%arg0: tensor<2x9xf32>) -> tensor<2x5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [9] : (tensor<2x9xf32>) -> tensor<2x5xcomplex<f32>>
    return %0 : tensor<2x5xcomplex<f32>>
  }
  func.func private @_pad(%arg0: tensor<2x5xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<2x5xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x5xcomplex<f32>>
    return %1 : tensor<2x5xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x5xcomplex<f32>>) -> tensor<2x9xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [9] : (tensor<2x5xcomplex<f32>>) -> tensor<2x9xf32>
    return %0 : tensor<2x9xf32>
  }
}
