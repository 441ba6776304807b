// RUN: --pipeline "blas{workers=2 always=true},reductions{workers=2},fuse-kernels{workers=2}"

// The scores of a head, their softmax and the sum that these weigh are one kernel: a workgroup
// computes all of a head. What nothing else uses is in results that are not used.
func.func @heads(%cache: tensor<8x512x64xf32>, %query: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scores = stablehlo.dot_general %cache, %query, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x512x64xf32>, tensor<8x64xf32>) -> tensor<8x512xf32>
  %e = stablehlo.exponential %scores : tensor<8x512xf32>
  %sums = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x512xf32>, tensor<f32>) -> tensor<8xf32>
  %all = stablehlo.broadcast_in_dim %sums, dims = [0] : (tensor<8xf32>) -> tensor<8x512xf32>
  %weights = stablehlo.divide %e, %all : tensor<8x512xf32>
  %out = stablehlo.dot_general %weights, %cache, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x512xf32>, tensor<8x512x64xf32>) -> tensor<8x64xf32>
  return %out : tensor<8x64xf32>
}
// CHECK-LABEL: stream.executable private @chain_1
// CHECK:         func.func private @scipy_cblas_sgemv64_
// CHECK-NOT:     func.func private
// CHECK:         func.func @chain_1(
// CHECK-SAME:        parts = array<i64: 8, 8, 8, 8, 8, 8>
// CHECK:         [[NUMBER:%\w+]] = stream.dispatch.workgroup.id[0]
// CHECK:         scf.for [[HEAD:%\w+]] =
// CHECK:           func.call @scipy_cblas_sgemv64_
// CHECK:           math.exp
// CHECK:           func.call @scipy_cblas_sgemv64_
// CHECK-NOT:   @reduction
// CHECK-LABEL: func.func @heads
// CHECK:         [[ALL:%\w+]]:3 = flow.dispatch @chain_1::@chain_1({{.*}}) : (tensor<8x512x64xf32>, tensor<8x64xf32>) -> (tensor<8x512xf32>, tensor<8x512xf32>, tensor<8x64xf32>)
// CHECK-NEXT:    return [[ALL]]#2

// A product that mixes the heads needs all that the first kernel gives.
func.func @mixed(%cache: tensor<8x512x64xf32>, %query: tensor<8x64xf32>, %mixer: tensor<8x8xf32>) -> tensor<8x512xf32> {
  %scores = stablehlo.dot_general %cache, %query, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x512x64xf32>, tensor<8x64xf32>) -> tensor<8x512xf32>
  %out = stablehlo.dot_general %mixer, %scores, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x512xf32>) -> tensor<8x512xf32>
  return %out : tensor<8x512xf32>
}
// CHECK-LABEL: func.func @mixed
// CHECK-COUNT-2: flow.dispatch @product

// What is between two kernels and uses the first keeps them apart.
func.func @between(%cache: tensor<8x512x64xf32>, %query: tensor<8x64xf32>) -> (tensor<8x512xf32>, tensor<8x64xf32>) {
  %scores = stablehlo.dot_general %cache, %query, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x512x64xf32>, tensor<8x64xf32>) -> tensor<8x512xf32>
  %turned = stablehlo.reverse %scores, dims = [0] : tensor<8x512xf32>
  %out = stablehlo.dot_general %scores, %cache, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x512xf32>, tensor<8x512x64xf32>) -> tensor<8x64xf32>
  return %turned, %out : tensor<8x512xf32>, tensor<8x64xf32>
}
// CHECK-LABEL: func.func @between
// CHECK-COUNT-2: flow.dispatch @product
