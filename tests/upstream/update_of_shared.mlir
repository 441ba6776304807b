// IREE runs one update in place before another has read what it updates.
// EXPECT: wrong
// SPEC: dynamic_update_slice: "Produces a `result` tensor which is equal to the `operand` tensor
// SPEC: except that the slice starting at `start_indices` is updated": the operand is left as it
// SPEC: is.
// INPUT: [1.0, 2.0, 3.0, 4.0, 5.0]
// INPUT: [1.0]
// INPUT: [9.0, 7.0]
// INPUT: [1]
// INPUT: [1]
func.func @main(%x: tensor<8x3xf32>, %v: tensor<3xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8xf32>
  %0 = stablehlo.dynamic_update_slice %y, %u, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  %r = stablehlo.slice %0 [0:2] : (tensor<8xf32>) -> tensor<2xf32>
  %1 = stablehlo.dynamic_update_slice %0, %r, %j : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %1, %0 : tensor<8xf32>, tensor<8xf32>
}
