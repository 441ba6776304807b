// RUN: --pipeline "reductions{workers=2}"

// Columns are folded in blocks, of which each worker gets as many.
func.func @main(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<1000x1000xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %3 = stablehlo.divide %0, %2 : tensor<1000x1000xf32>
  return %3 : tensor<1000x1000xf32>
}
// CHECK:      stream.executable private @reduction {
// CHECK:        %[[BLOCKS:.*]] = arith.constant 16 : index
// CHECK:        stream.return %[[BLOCKS]]
// CHECK:        memref.alloca() alignment = 64 : memref<64xf32>
