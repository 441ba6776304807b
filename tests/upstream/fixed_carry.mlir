// IREE loses a carry that is read, where its next value is a constant, or from outside the loop.
// EXPECT: refused
// INPUT: [5.0]
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %limit = stablehlo.constant dense<1.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%a = %x, %first = %true, %n = %zero) : tensor<f32>, tensor<i1>, tensor<i32>
  cond {
    %1 = stablehlo.compare GT, %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %a, %half : tensor<f32>
    %2 = stablehlo.select %first, %a, %1 : tensor<i1>, tensor<f32>
    %3 = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %2, %false, %3 : tensor<f32>, tensor<i1>, tensor<i32>
  }
  return %0#0, %0#2 : tensor<f32>, tensor<i32>
}
