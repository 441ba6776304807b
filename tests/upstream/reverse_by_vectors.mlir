// IREE reverses element by element.
// EXPECT: slow
// INPUT: [1.0, 2.0, 3.0]
func.func @main(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<1000x1000xf32>
  return %0 : tensor<1000x1000xf32>
}
