// Of two pads IREE makes one, wrongly where the second goes between the elements.
// EXPECT: wrong
// SPEC: pad: "Interior padding occurs before edge padding such that negative edge padding will
// SPEC: remove elements from the interior-padded operand."
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<3xf32>) -> tensor<9xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [1], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = stablehlo.pad %0, %c, low = [0], high = [0], interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  return %1 : tensor<9xf32>
}
