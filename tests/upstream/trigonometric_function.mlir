// IREE's sine is off by 0.2 at 1e6, and infinite at 1e30.
// EXPECT: wrong
// SPEC: sine: "For floats: `sin` from IEEE-754."
// INPUT: [1e6, 1e30, 3.1415927]
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.sine %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
