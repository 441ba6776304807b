// IREE does not keep the order of equal elements, of which a comparator of squares knows.
// EXPECT: wrong
// INPUT: [2.0, -2.0, 1.0, -1.0, 0.5]
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %a : tensor<f32>
    %2 = stablehlo.multiply %b, %b : tensor<f32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
