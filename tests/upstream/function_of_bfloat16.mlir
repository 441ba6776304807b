// Of two operations one after the other IREE rounds just the second.
// EXPECT: wrong
// SPEC: multiply: "For floats: `multiplication` from IEEE-754.", which is rounded to the result's
// SPEC: type, bfloat16.
// INPUT: [1.2345, 0.1, 3.14159, 1.00390625]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.multiply %0, %0 : tensor<4xbf16>
  %2 = stablehlo.subtract %1, %0 : tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
