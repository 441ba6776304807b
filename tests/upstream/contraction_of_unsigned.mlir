// IREE takes the conversion of unsigned integers into the product, where it takes them for signed.
// EXPECT: wrong
// SPEC: convert: "if the source value can be exactly represented in the destination type, the
// SPEC: result value is that exact representation."
// INPUT: [1, 200]
// INPUT: [1.0, 2.0]
func.func @main(%x: tensor<3x4xui8>, %y: tensor<4x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.convert %x : (tensor<3x4xui8>) -> tensor<3x4xf32>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}
