// IREE multiplies integers in twice the time of floats that hold the same numbers.
// EXPECT: slow
// INPUT: [1, -2, 3, 100, -128]
// INPUT: [-1, 2, 127]
func.func @main(%x: tensor<256x256xi8>, %y: tensor<256x256xi8>) -> tensor<256x256xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<256x256xi8>, tensor<256x256xi8>) -> tensor<256x256xi32>
  return %0 : tensor<256x256xi32>
}
