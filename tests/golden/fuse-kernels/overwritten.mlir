// RUN: --pipeline "blas{workers=2 always=true},reductions{workers=2},fuse-kernels{workers=2}"

// A softmax in the memory of a large product stays there.
func.func @softmax(%x: tensor<8x64x64xf32>, %y: tensor<8x128x64xf32>) -> tensor<8x64x128xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scores = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x64x64xf32>, tensor<8x128x64xf32>) -> tensor<8x64x128xf32>
  %e = stablehlo.exponential %scores : tensor<8x64x128xf32>
  %sums = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x64x128xf32>, tensor<f32>) -> tensor<8x64xf32>
  %all = stablehlo.broadcast_in_dim %sums, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x128xf32>
  %weights = stablehlo.divide %e, %all : tensor<8x64x128xf32>
  return %weights : tensor<8x64x128xf32>
}
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT:    stablehlo.constant
// CHECK-NEXT:    [[RESULT:%\w+]] = flow.dispatch @chain::@chain({{.*}}) : (tensor<8x64x64xf32>, tensor<8x128x64xf32>) -> tensor<8x64x128xf32>
// CHECK-NEXT:    return [[RESULT]]

// Sums of rows of a product in another shape are of the same memory.
func.func @reshaped(%x: tensor<8x64x64xf32>, %y: tensor<8x128x64xf32>) -> (tensor<8x64x128xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scores = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x64x64xf32>, tensor<8x128x64xf32>) -> tensor<8x64x128xf32>
  %rows = stablehlo.reshape %scores : (tensor<8x64x128xf32>) -> tensor<512x128xf32>
  %sums = stablehlo.reduce(%rows init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x128xf32>, tensor<f32>) -> tensor<512xf32>
  return %scores, %sums : tensor<8x64x128xf32>, tensor<512xf32>
}
// CHECK-LABEL: func.func @reshaped
// CHECK-NEXT:    stablehlo.constant
// CHECK-NEXT:    [[BOTH:%\w+]]:2 = flow.dispatch @chain_1::@chain_1({{.*}}) -> (tensor<8x64x128xf32>, tensor<512xf32>)
// CHECK-NEXT:    return [[BOTH]]#0, [[BOTH]]#1
