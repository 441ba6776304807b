// IREE gives each element of a result a thread, and Mesa ends its loops after 65535 steps.
// TARGETS: iree-vulkan
// EXPECT: wrong
// SPEC: reduce: the results are sums of "`input_slices_converted...[index]` values, for all
// SPEC: `index` in `index_space(input_slices_converted)`".
// INPUT: [1.0]
func.func @main(%x: tensor<100000xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<100000xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
