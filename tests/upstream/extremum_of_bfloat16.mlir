// IREE converts to float32 and back for each element.
// EXPECT: slow
// INPUT: [1.0, 0.5, 0.25]
func.func @main(%x: tensor<1000x1024xbf16>) -> tensor<1000xbf16> {
  %z = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<1000x1024xbf16>, tensor<bf16>) -> tensor<1000xbf16>
  return %0 : tensor<1000xbf16>
}
