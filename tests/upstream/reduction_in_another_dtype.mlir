// IREE folds in the dtype of the elements alone.
// TARGETS: iree-cpu, pjrt
// EXPECT: refused
// INPUT: [100]
func.func @main(%x: tensor<3xi8>) -> tensor<i32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<3xi8>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
