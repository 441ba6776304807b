// Threads do not wait for the one that has widened what they sum, or has summed what they use.
// TARGETS: iree-vulkan
// EXPECT: refused
// SPEC: reduce: the results are sums of "`input_slices_converted...[index]` values, for all
// SPEC: `index` in `index_space(input_slices_converted)`".
// INPUT: [1.0]
func.func @main(%x: tensor<4x1000xbf16>) -> tensor<4x1000xbf16> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %w = stablehlo.convert %x : (tensor<4x1000xbf16>) -> tensor<4x1000xf32>
  %0 = stablehlo.reduce(%w init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x1000xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1000xf32>
  %2 = stablehlo.divide %w, %1 : tensor<4x1000xf32>
  %3 = stablehlo.convert %2 : (tensor<4x1000xf32>) -> tensor<4x1000xbf16>
  return %3 : tensor<4x1000xbf16>
}
