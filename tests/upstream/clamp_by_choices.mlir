// IREE looks for nan in three instructions for each bound.
// EXPECT: slow
// INPUT: [1.0, 0.5, 0.25]
func.func @main(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %low = stablehlo.constant dense<-4.0> : tensor<f32>
  %high = stablehlo.constant dense<4.0> : tensor<f32>
  %c0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m0 = stablehlo.multiply %c0, %c0 : tensor<100000xf32>
  %c1 = stablehlo.clamp %low, %m0, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m1 = stablehlo.multiply %c1, %c1 : tensor<100000xf32>
  %c2 = stablehlo.clamp %low, %m1, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m2 = stablehlo.multiply %c2, %c2 : tensor<100000xf32>
  %c3 = stablehlo.clamp %low, %m2, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m3 = stablehlo.multiply %c3, %c3 : tensor<100000xf32>
  %c4 = stablehlo.clamp %low, %m3, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m4 = stablehlo.multiply %c4, %c4 : tensor<100000xf32>
  %c5 = stablehlo.clamp %low, %m4, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m5 = stablehlo.multiply %c5, %c5 : tensor<100000xf32>
  %c6 = stablehlo.clamp %low, %m5, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m6 = stablehlo.multiply %c6, %c6 : tensor<100000xf32>
  %c7 = stablehlo.clamp %low, %m6, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m7 = stablehlo.multiply %c7, %c7 : tensor<100000xf32>
  %c8 = stablehlo.clamp %low, %m7, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m8 = stablehlo.multiply %c8, %c8 : tensor<100000xf32>
  %c9 = stablehlo.clamp %low, %m8, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m9 = stablehlo.multiply %c9, %c9 : tensor<100000xf32>
  %c10 = stablehlo.clamp %low, %m9, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m10 = stablehlo.multiply %c10, %c10 : tensor<100000xf32>
  %c11 = stablehlo.clamp %low, %m10, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m11 = stablehlo.multiply %c11, %c11 : tensor<100000xf32>
  %c12 = stablehlo.clamp %low, %m11, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m12 = stablehlo.multiply %c12, %c12 : tensor<100000xf32>
  %c13 = stablehlo.clamp %low, %m12, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m13 = stablehlo.multiply %c13, %c13 : tensor<100000xf32>
  %c14 = stablehlo.clamp %low, %m13, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m14 = stablehlo.multiply %c14, %c14 : tensor<100000xf32>
  %c15 = stablehlo.clamp %low, %m14, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m15 = stablehlo.multiply %c15, %c15 : tensor<100000xf32>
  %c16 = stablehlo.clamp %low, %m15, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m16 = stablehlo.multiply %c16, %c16 : tensor<100000xf32>
  %c17 = stablehlo.clamp %low, %m16, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m17 = stablehlo.multiply %c17, %c17 : tensor<100000xf32>
  %c18 = stablehlo.clamp %low, %m17, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m18 = stablehlo.multiply %c18, %c18 : tensor<100000xf32>
  %c19 = stablehlo.clamp %low, %m18, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m19 = stablehlo.multiply %c19, %c19 : tensor<100000xf32>
  %c20 = stablehlo.clamp %low, %m19, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m20 = stablehlo.multiply %c20, %c20 : tensor<100000xf32>
  %c21 = stablehlo.clamp %low, %m20, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m21 = stablehlo.multiply %c21, %c21 : tensor<100000xf32>
  %c22 = stablehlo.clamp %low, %m21, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m22 = stablehlo.multiply %c22, %c22 : tensor<100000xf32>
  %c23 = stablehlo.clamp %low, %m22, %high : (tensor<f32>, tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %m23 = stablehlo.multiply %c23, %c23 : tensor<100000xf32>
  return %m23 : tensor<100000xf32>
}
