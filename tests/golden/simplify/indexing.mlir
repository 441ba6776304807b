// Slices whose place is known.

// RUN: --pipeline "simplify"

// x[1:3], and x[3:5] for 4, which is too far
func.func @dynamic_slice_at_constant(%x: tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<4> : tensor<i32>
  %a = stablehlo.dynamic_slice %x, %1, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  %b = stablehlo.dynamic_slice %x, %4, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}
// CHECK:      func.func @dynamic_slice_at_constant([[X:%\w+]]: tensor<5xf32>)
// CHECK-NEXT:   [[SLICE:%\w+]] = stablehlo.slice [[X]] [1:3] : (tensor<5xf32>) -> tensor<2xf32>
// CHECK-NEXT:   [[SLICE_2:%\w+]] = stablehlo.slice [[X]] [3:5] : (tensor<5xf32>) -> tensor<2xf32>
// CHECK-NEXT:   return [[SLICE]], [[SLICE_2]] : tensor<2xf32>, tensor<2xf32>

// There is one place for all elements
func.func @dynamic_slice_at_constant.all(%x: tensor<5xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %y = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<5xf32>, tensor<i32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
// CHECK:      func.func @dynamic_slice_at_constant.all([[X:%\w+]]: tensor<5xf32>,
// CHECK-SAME:   [[I:%\w+]]: tensor<i32>)
// CHECK-NEXT:   return [[X]] : tensor<5xf32>

// Any part of ones is ones
func.func @dynamic_slice_of_one_element(%i: tensor<i32>) -> tensor<2xf32> {
  %x = stablehlo.constant dense<1.0> : tensor<5xf32>
  %y = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK:      func.func @dynamic_slice_of_one_element(
// CHECK-NEXT:   [[ONES:%\w+]] = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT:   return [[ONES]] : tensor<2xf32>

// All elements are written over
func.func @update_of_everything(%x: tensor<5xf32>, %y: tensor<5xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %z = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<5xf32>, tensor<5xf32>, tensor<i32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
// CHECK:      func.func @update_of_everything([[X:%\w+]]: tensor<5xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<5xf32>,
// CHECK-SAME:   [[I:%\w+]]: tensor<i32>)
// CHECK-NEXT:   return [[Y]] : tensor<5xf32>

// Written into zeros: the reverse of x[1:3]
func.func @update_of_constant(%x: tensor<2xf32>) -> tensor<5xf32> {
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.constant dense<0.0> : tensor<5xf32>
  %z = stablehlo.dynamic_update_slice %0, %x, %1 : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
// CHECK:      func.func @update_of_constant([[X:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[PAD:%\w+]] = stablehlo.pad [[X]], [[ZERO]], low = [1], high = [2], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK-NEXT:   return [[PAD]] : tensor<5xf32>

// A gather clamps indices to 0 and 4 by itself
func.func @gather_at_clamped(%x: tensor<5xf32>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<3xi32>
  %most = stablehlo.constant dense<4> : tensor<3xi32>
  %low = stablehlo.constant dense<-1> : tensor<i32>
  %high = stablehlo.constant dense<9> : tensor<i32>
  %positive = stablehlo.maximum %i, %zero : tensor<3xi32>
  %j = stablehlo.minimum %positive, %most : tensor<3xi32>
  %k = stablehlo.clamp %low, %i, %high : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  %0 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3xi32>) -> tensor<3xf32>
  %1 = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<3xi32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
// CHECK:      func.func @gather_at_clamped([[X:%\w+]]: tensor<5xf32>, [[I:%\w+]]: tensor<3xi32>)
// CHECK-NEXT:   "stablehlo.gather"([[X]], [[I]])
// CHECK-NEXT:   "stablehlo.gather"([[X]], [[I]])

// The part is selected, not the array
func.func @select_of_update(%x: tensor<5xf32>, %y: tensor<2xf32>, %i: tensor<i32>, %c: tensor<i1>) -> tensor<5xf32> {
  %z = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  %w = stablehlo.select %c, %z, %x : tensor<i1>, tensor<5xf32>
  return %w : tensor<5xf32>
}
// CHECK:      func.func @select_of_update([[X:%\w+]]: tensor<5xf32>, [[Y:%\w+]]: tensor<2xf32>,
// CHECK:        [[OLD:%\w+]] = stablehlo.dynamic_slice [[X]]
// CHECK:        [[NEW:%\w+]] = stablehlo.select {{%\w+}}, [[Y]], [[OLD]]
// CHECK-NEXT:   stablehlo.dynamic_update_slice [[X]], [[NEW]]

// The update is the second choice, and the condition is spread to all elements
func.func @select_of_update.second(%x: tensor<5xf32>, %y: tensor<2xf32>, %i: tensor<i32>, %c: tensor<i1>) -> tensor<5xf32> {
  %z = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<5xi1>
  %w = stablehlo.select %b, %x, %z : tensor<5xi1>, tensor<5xf32>
  return %w : tensor<5xf32>
}
// CHECK:      func.func @select_of_update.second([[X:%\w+]]: tensor<5xf32>, [[Y:%\w+]]: tensor<2xf32>,
// CHECK:        [[OLD:%\w+]] = stablehlo.dynamic_slice [[X]]
// CHECK:        [[NEW:%\w+]] = stablehlo.select {{%\w+}}, [[OLD]], [[Y]]
// CHECK-NEXT:   stablehlo.dynamic_update_slice [[X]], [[NEW]]

// Windows that are not selected are put out of bounds
func.func @select_of_scatter(%x: tensor<5xf32>, %i: tensor<2x1xi32>, %y: tensor<2xf32>, %c: tensor<i1>) -> tensor<5xf32> {
  %z = "stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<5xf32>
  %w = stablehlo.select %c, %z, %x : tensor<i1>, tensor<5xf32>
  return %w : tensor<5xf32>
}
// CHECK:      func.func @select_of_scatter([[X:%\w+]]: tensor<5xf32>, [[I:%\w+]]: tensor<2x1xi32>,
// CHECK:        [[OUT:%\w+]] = stablehlo.constant dense<-1>
// CHECK:        [[AT:%\w+]] = stablehlo.select {{%\w+}}, [[I]], [[OUT]]
// CHECK:        "stablehlo.scatter"([[X]], [[AT]]
// CHECK-NOT:    stablehlo.select
