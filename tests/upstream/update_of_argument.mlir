// IREE updates the memory of an argument in place, which the function returns as well.
// EXPECT: wrong
// SPEC: dynamic_update_slice: "Produces a `result` tensor which is equal to the `operand` tensor
// SPEC: except that the slice starting at `start_indices` is updated": the operand is left as it
// SPEC: is.
// INPUT: [1.0, 2.0, 3.0, 4.0]
// INPUT: [9.0]
// INPUT: [2]
func.func @main(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}
