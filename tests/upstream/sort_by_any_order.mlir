// IREE does not compile a sort for CUDA if it sees that a result is unused.
// TARGETS: iree-cuda
// EXPECT: refused
// INPUT: [3, 1, 2]
// INPUT: [1.0]
func.func @main(%x: tensor<64xi32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<64xi32>, tensor<64xf32>) -> (tensor<64xi32>, tensor<64xf32>)
  return %0#1 : tensor<64xf32>
}
