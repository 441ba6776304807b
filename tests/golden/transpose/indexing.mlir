// Transposes of indexing: reading becomes adding into zeros, and writing becomes reading.

// RUN: --pipeline "transpose{func=read wrt=0}"
func.func @read(%x: tensor<5xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %y = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK:      func.func @read.transpose([[I:%\w+]]: tensor<i32>, [[CT:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<5xf32>
// CHECK-NEXT:   [[DYNAMIC_UPDATE_SLICE:%\w+]] = stablehlo.dynamic_update_slice [[ZERO]], [[CT]], [[I]] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
// CHECK-NEXT:   return [[DYNAMIC_UPDATE_SLICE]] : tensor<5xf32>

// What was written over gets zero, and what was written gets the cotangent there.
// RUN: --pipeline "transpose{func=write wrt=0,1}"
func.func @write(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %y = stablehlo.dynamic_update_slice %x, %u, %i
    : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
// CHECK:      func.func @write.transpose([[I:%\w+]]: tensor<i32>, [[CT:%\w+]]: tensor<5xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:   [[DYNAMIC_UPDATE_SLICE:%\w+]] = stablehlo.dynamic_update_slice [[CT]], [[ZERO]], [[I]] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
// CHECK-NEXT:   [[DYNAMIC_SLICE:%\w+]] = stablehlo.dynamic_slice [[CT]], [[I]], sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
// CHECK-NEXT:   return [[DYNAMIC_UPDATE_SLICE]], [[DYNAMIC_SLICE]] : tensor<5xf32>, tensor<2xf32>

// x[i] for a vector of indices: an element that was read twice gets the sum of both cotangents
// RUN: --pipeline "transpose{func=take wrt=0}"
func.func @take(%x: tensor<5xf32>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
  %y = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK:      func.func @take.transpose([[I:%\w+]]: tensor<3x1xi32>, [[CT:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:   [[CLAMP:%\w+]] = stablehlo.clamp [[ZERO]], [[I]], [[C]] : (tensor<i32>, tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>
// CHECK-NEXT:   [[ZERO_2:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<5xf32>
// CHECK-NEXT:   [[SCATTER:%\w+]] = "stablehlo.scatter"([[ZERO_2]], [[CLAMP]], [[CT]]) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT:     [[ADD:%\w+]] = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT:     stablehlo.return [[ADD]] : tensor<f32>
// CHECK-NEXT:   }) : (tensor<5xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK-NEXT:   return [[SCATTER]] : tensor<5xf32>
