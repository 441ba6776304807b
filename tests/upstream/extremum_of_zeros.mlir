// SPIR-V's extrema take either of two zeros; 1 / maximum(0, -0) shows which.
// TARGETS: iree-vulkan
// EXPECT: wrong
// SPEC: maximum: "For floats: `maximum` operation from IEEE-754."
// INPUT: [0.0, -0.0]
// INPUT: [-0.0, 0.0]
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0 = stablehlo.maximum %x, %y : tensor<2xf32>
  %1 = stablehlo.divide %one, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
