// IREE sorts in quadratic time.
// EXPECT: slow
// INPUT: [3.0, 1.0, 2.0, -7.5, 100.0, 0.25, -1.0]
func.func @main(%x0: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = "stablehlo.sort"(%x0) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %1 = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
