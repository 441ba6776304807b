// On GPUs, IREE's sort compares each element with each in one thread, and it does not compile some.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: slow
// INPUT: [2.0, 1.0, 0.5]
// INPUT: [1.0]
func.func @main(%x0: tensor<64xf32>, %x1: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0:2 = "stablehlo.sort"(%x0, %x1) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<f32>, %b1: tensor<f32>):
    %1 = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}
