// Batching of indexing.

// The same place in each lane is a slice of all lanes
// RUN: --pipeline "batch{func=read size=5 in_axes=0,None},simplify"
func.func @read(%x: tensor<6xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %y = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<6xf32>, tensor<i32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK:      func.func @read.batch([[X:%\w+]]: tensor<5x6xf32>, [[I:%\w+]]: tensor<i32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:   [[DYNAMIC_SLICE:%\w+]] = stablehlo.dynamic_slice [[X]], [[ZERO]], [[I]], sizes = [5, 2] : (tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
// CHECK-NEXT:   return [[DYNAMIC_SLICE]] : tensor<5x2xf32>

// Indices of each lane's own are further batching dimensions of the gather
// RUN: --pipeline "batch{func=take size=5}"
func.func @take(%x: tensor<6xf32>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
  %y = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @take.batch([[X:%\w+]]: tensor<5x6xf32>, [[I:%\w+]]: tensor<5x3x1xi32>)
// CHECK-NEXT:   [[GATHER:%\w+]] = "stablehlo.gather"([[X]], [[I]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<5x6xf32>, tensor<5x3x1xi32>) -> tensor<5x3xf32>
// CHECK-NEXT:   return [[GATHER]] : tensor<5x3xf32>
