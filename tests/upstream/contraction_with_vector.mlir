// IREE multiplies a matrix of bfloat16 by a vector in several times the time of a kernel that sums
// products.
// EXPECT: slow
// INPUT: [1.0, -2.0, 0.5]
// INPUT: [-1.0, 2.0]
func.func @main(%x: tensor<2048x2048xbf16>, %y: tensor<2048xbf16>) -> tensor<2048xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2048x2048xbf16>, tensor<2048xbf16>) -> tensor<2048xbf16>
  return %0 : tensor<2048xbf16>
}
