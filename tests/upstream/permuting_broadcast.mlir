// StableHLO's canonicalization makes the inverse of the right transpose of such a broadcast.
// EXPECT: refused
// INPUT: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
