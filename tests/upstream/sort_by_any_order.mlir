// IREE does not compile a sort of which it sees that a result is not used.
// TARGETS: iree-vulkan, iree-cuda
// EXPECT: right
// INPUT: [3.0, 1.0, 2.0]
// INPUT: [1.0]
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %m = stablehlo.multiply %a, %a : tensor<f32>
    %n = stablehlo.multiply %b, %b : tensor<f32>
    %1 = stablehlo.compare LT, %m, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#1 : tensor<8xf32>
}
