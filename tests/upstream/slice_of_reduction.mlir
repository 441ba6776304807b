// IREE does not compile some reductions along with what takes a part of their results.
// TARGETS: iree-cuda, iree-hip
// EXPECT: refused
// INPUT: [1.0]
func.func @main(%x: tensor<2x4x4xf32>) -> tensor<2x3xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<2x4x4xf32>
  %p = stablehlo.constant dense<[[[true, false, false, false], [false, true, false, false], [false, false, true, false], [false, false, false, true]], [[true, false, false, false], [false, true, false, false], [false, false, true, false], [false, false, false, true]]]> : tensor<2x4x4xi1>
  %0 = stablehlo.select %p, %x, %z : tensor<2x4x4xi1>, tensor<2x4x4xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = stablehlo.slice %1 [0:2, 0:3] : (tensor<2x4xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
