// A slice of one element has no use for a stride, and IREE drops its dimension wrongly.
// EXPECT: right
// INPUT: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
func.func @main(%x: tensor<2x5x6xf32>) -> tensor<5x6xf32> {
  %0 = stablehlo.slice %x [1:2:2, 0:5, 0:6] : (tensor<2x5x6xf32>) -> tensor<1x5x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x5x6xf32>) -> tensor<5x6xf32>
  %2 = stablehlo.sine %1 : tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}
