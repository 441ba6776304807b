// IREE cannot sort a constant, which it would do in place.
// EXPECT: refused
func.func @main() -> tensor<2x2xi32> {
  %c = stablehlo.constant dense<[[3, 1], [2, 0]]> : tensor<2x2xi32>
  %0 = "stablehlo.sort"(%c) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}
