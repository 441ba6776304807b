// IREE converts bfloat16 to floats before it multiplies; processors have an instruction for pairs.
// EXPECT: slow
// INPUT: [1.0, -2.0, 3.0, 0.5, -0.25]
// INPUT: [-1.0, 2.0, 0.75]
func.func @main(%x: tensor<512x512xbf16>, %y: tensor<512x512xbf16>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
