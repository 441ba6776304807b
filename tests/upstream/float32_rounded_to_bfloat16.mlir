// Of two roundings one after the other IREE leaves out the first.
// EXPECT: wrong
// SPEC: Each operation has a result of its own type: convert gives a bfloat16, which the next one
// SPEC: takes.
// INPUT: [1.2345, 0.1, 3.14159, 1.00390625]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<4xf32>
  %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xbf16>
  %4 = stablehlo.convert %3 : (tensor<4xbf16>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
