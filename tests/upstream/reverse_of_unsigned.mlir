// IREE refuses to reverse unsigned integers.
// EXPECT: refused
// INPUT: [1, 2]
func.func @main(%x: tensor<2xui32>) -> tensor<2xui32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<2xui32>
  return %0 : tensor<2xui32>
}
