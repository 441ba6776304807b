// A slice that leaves elements out of a row cannot be fused into a reverse.
// EXPECT: refused
// INPUT: [1.0, 2.0, 3.0, 4.0, 5.0]
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.slice %x [0:4, 1:5:2] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %2 = stablehlo.reverse %0, dims = [0, 1] : tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}
