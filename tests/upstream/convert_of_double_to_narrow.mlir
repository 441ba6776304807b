// IREE rounds twice on the way, and loses what is subnormal.
// EXPECT: wrong
// SPEC: convert: "if the source value can be exactly represented in the destination type, the
// SPEC: result value is that exact representation. Otherwise, the behavior is TBD"; the nearest
// SPEC: value is expected.
// INPUT: [1.00390625000001, 1.0039062500000001, 9.2e-41, 1.01171874999]
func.func @main(%x: tensor<4xf64>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xf64>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
