// What IREE gets wrong in float32 it gets wrong in float16 too.
// EXPECT: wrong
// SPEC: power: "For floats: `pow` from IEEE-754."
// INPUT: [0.0, -inf, 1.0]
// INPUT: [0.0, 2.0, nan]
// TOLERANCE: 0.002
func.func @main(%x: tensor<3xf16>, %y: tensor<3xf16>) -> tensor<3xf16> {
  %0 = stablehlo.power %x, %y : tensor<3xf16>
  return %0 : tensor<3xf16>
}
