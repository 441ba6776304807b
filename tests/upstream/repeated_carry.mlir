// IREE loses one of two carries with the same next value.
// EXPECT: refused
// INPUT: [5.0]
// INPUT: [7.0]
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %limit = stablehlo.constant dense<1.0> : tensor<f32>
  %quarter = stablehlo.constant dense<0.25> : tensor<f32>
  %0:2 = stablehlo.while(%a = %x, %b = %y) : tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare GT, %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = stablehlo.multiply %1, %quarter : tensor<f32>
    stablehlo.return %2, %2 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
