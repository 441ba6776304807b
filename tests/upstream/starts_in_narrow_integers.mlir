// IREE takes a negative start of 8 bits as a large one: elements 253 and 254 instead of 0 and 1.
// EXPECT: wrong
// SPEC: dynamic_slice: "`adjusted_start_indices = clamp(0, start_indices, shape(operand) -
// SPEC: slice_sizes)`."
// INPUT: [0.0, 1.0, 2.0]
// INPUT: [-3]
func.func @main(%x: tensor<300xf32>, %i: tensor<i8>) -> tensor<2xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<300xf32>, tensor<i8>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
