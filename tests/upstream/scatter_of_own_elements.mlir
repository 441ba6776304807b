// IREE does not compile a scatter along with the gather of its updates from the same array.
// TARGETS: iree-cpu
// EXPECT: refused
// INPUT: [1, 2, 3]
// INPUT: [0, 3, 1, 5, 2, 6, 3, 7]
// INPUT: [True, False]
func.func @main(%x: tensor<4x28xi32>, %i: tensor<4x2xi32>, %p: tensor<4xi1>) -> tensor<4x28xi32> {
  %z = stablehlo.constant dense<0> : tensor<4xi32>
  %a = stablehlo.negate %x : tensor<4x28xi32>
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x28xi32>, tensor<4x2xi32>) -> tensor<4xi32>
  %1 = stablehlo.select %p, %z, %0 : tensor<4xi1>, tensor<4xi32>
  %2 = "stablehlo.scatter"(%a, %i, %1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%b: tensor<i32>, %c: tensor<i32>):
    stablehlo.return %c : tensor<i32>
  }) : (tensor<4x28xi32>, tensor<4x2xi32>, tensor<4xi32>) -> tensor<4x28xi32>
  return %2 : tensor<4x28xi32>
}
