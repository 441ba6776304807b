// IREE's compiler divides by zero where a dimension has no elements.
// EXPECT: crashes
// INPUT: [0.0]
// INPUT: [0.0]
func.func @main(%x: tensor<2x0xf32>, %y: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
