// IREE does not keep the order of equal elements.
// EXPECT: wrong
// SPEC: sort: "If `is_stable` is true, then the sorting is stable, that is, relative order of
// SPEC: elements considered to be equal by the comparator is preserved."
// INPUT: [2, 1, 2, 1, 1, 0]
// INPUT: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
func.func @main(%x0: tensor<64xi32>, %x1: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  %0:2 = "stablehlo.sort"(%x0, %x1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %b0: tensor<i32>, %a1: tensor<i32>, %b1: tensor<i32>):
    %1 = stablehlo.compare LT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>)
  return %0#0, %0#1 : tensor<64xi32>, tensor<64xi32>
}
