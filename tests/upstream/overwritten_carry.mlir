// IREE's compiler crashes where a loop carries what it never reads, only overwrites.
// EXPECT: crashes
// INPUT: [5.0]
// INPUT: [7.0]
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:3 = stablehlo.while(%a = %x, %on = %true, %old = %y) : tensor<f32>, tensor<i1>, tensor<f32>
  cond {
    stablehlo.return %on : tensor<i1>
  } do {
    %1 = stablehlo.multiply %a, %half : tensor<f32>
    %2 = stablehlo.compare GT, %1, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1, %2, %a : tensor<f32>, tensor<i1>, tensor<f32>
  }
  return %0#0, %0#2 : tensor<f32>, tensor<f32>
}
