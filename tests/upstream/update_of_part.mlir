// A slice that leaves elements out of a row cannot be fused into a sort, which writes in place.
// EXPECT: refused
// INPUT: [1.0, 5.0, 3.0, 4.0, 2.0, 6.0, 7.0]
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.slice %x [0:4, 1:4] : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
