// Forward mode of indexing: the places are constant, and the elements move linearly.

// d x[i:i+2] = dx[i:i+2]
// RUN: --pipeline "jvp{func=read}"
func.func @read(%x: tensor<5xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %y = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK:      func.func @read.jvp([[X:%\w+]]: tensor<5xf32>,
// CHECK-SAME:   [[I:%\w+]]: tensor<i32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<5xf32>)
// CHECK-NEXT:   [[DYNAMIC_SLICE:%\w+]] = stablehlo.dynamic_slice [[X]], [[I]], sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
// CHECK-NEXT:   [[DYNAMIC_SLICE_2:%\w+]] = stablehlo.dynamic_slice [[DX]], [[I]], sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
// CHECK-NEXT:   return [[DYNAMIC_SLICE]], [[DYNAMIC_SLICE_2]] : tensor<2xf32>, tensor<2xf32>

// x with u written at i: the tangent is dx with du written at i
// RUN: --pipeline "jvp{func=write}"
func.func @write(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %y = stablehlo.dynamic_update_slice %x, %u, %i
    : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
// CHECK:      func.func @write.jvp([[X:%\w+]]: tensor<5xf32>,
// CHECK-SAME:   [[U:%\w+]]: tensor<2xf32>,
// CHECK-SAME:   [[I:%\w+]]: tensor<i32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<5xf32>,
// CHECK-SAME:   [[DU:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[DYNAMIC_UPDATE_SLICE:%\w+]] = stablehlo.dynamic_update_slice [[X]], [[U]], [[I]] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
// CHECK-NEXT:   [[DYNAMIC_UPDATE_SLICE_2:%\w+]] = stablehlo.dynamic_update_slice [[DX]], [[DU]], [[I]] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
// CHECK-NEXT:   return [[DYNAMIC_UPDATE_SLICE]], [[DYNAMIC_UPDATE_SLICE_2]] : tensor<5xf32>, tensor<5xf32>

// d x[i] = dx[i] for a vector of indices
// RUN: --pipeline "jvp{func=take}"
func.func @take(%x: tensor<5xf32>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
  %y = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @take.jvp([[X:%\w+]]: tensor<5xf32>,
// CHECK-SAME:   [[I:%\w+]]: tensor<3x1xi32>,
// CHECK-SAME:   [[DX:%\w+]]: tensor<5xf32>)
// CHECK-NEXT:   [[GATHER:%\w+]] = "stablehlo.gather"([[X]], [[I]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3x1xi32>) -> tensor<3xf32>
// CHECK-NEXT:   [[GATHER_2:%\w+]] = "stablehlo.gather"([[DX]], [[I]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3x1xi32>) -> tensor<3xf32>
// CHECK-NEXT:   return [[GATHER]], [[GATHER_2]] : tensor<3xf32>, tensor<3xf32>
