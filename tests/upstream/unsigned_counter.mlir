// IREE's virtual machine, which counts, makes a conversion to an unsigned type that does not verify.
// EXPECT: refused
// INPUT: [5]
func.func @main(%n: tensor<i32>) -> tensor<ui64> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %d = stablehlo.constant dense<1> : tensor<i32>
  %s = stablehlo.constant dense<0> : tensor<ui64>
  %0:2 = stablehlo.while(%i = %c, %x = %s) : tensor<i32>, tensor<ui64>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.convert %i : (tensor<i32>) -> tensor<ui64>
    %2 = stablehlo.add %x, %1 : tensor<ui64>
    %3 = stablehlo.add %i, %d : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<ui64>
  }
  return %0#1 : tensor<ui64>
}
