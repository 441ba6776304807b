// IREE makes an update of equal elements a pad, and cannot state a complex64 as its fill value.
// EXPECT: refused
// INPUT: [1+2j]
// INPUT: [1]
func.func @main(%x: tensor<1xcomplex<f32>>, %i: tensor<i32>) -> tensor<4xcomplex<f32>> {
  %c = stablehlo.constant dense<(0.0, 0.0)> : tensor<4xcomplex<f32>>
  %0 = stablehlo.dynamic_update_slice %c, %x, %i : (tensor<4xcomplex<f32>>, tensor<1xcomplex<f32>>, tensor<i32>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
