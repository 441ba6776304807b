// IREE does not keep the order of equal elements, of which this comparator has two kinds.
// EXPECT: wrong
// SPEC: sort: "If `is_stable` is true, then the sorting is stable, that is, relative order of
// SPEC: elements considered to be equal by the comparator is preserved."
// INPUT: [2, 1, 3, 4, 6, 5, 8]
// INPUT: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
func.func @main(%x: tensor<64xi32>, %y: tensor<64xi32>) -> tensor<64xi32> {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %o = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.and %a, %o : tensor<i32>
    %2 = stablehlo.and %b, %o : tensor<i32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>)
  return %0#1 : tensor<64xi32>
}
