// The rows to read are moved back into the array.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @gather_beyond_the_array(%x: tensor<8x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
// CHECK:      func.func @gather_beyond_the_array([[X:%\w+]]: tensor<8x4xf32>, [[I:%\w+]]: tensor<3x1xi32>
// CHECK-DAG:    [[ZERO:%\w+]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG:    [[LAST:%\w+]] = stablehlo.constant dense<7> : tensor<i32>
// CHECK:        [[INSIDE:%\w+]] = stablehlo.clamp [[ZERO]], [[I]], [[LAST]]
// CHECK-NEXT:   "stablehlo.gather"([[X]], [[INSIDE]])

// Bytes are in bounds of 300 elements, but their highest bit is no sign.
func.func @gather_at_bytes(%x: tensor<300xf32>, %i: tensor<3x1xui8>) -> tensor<3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<300xf32>, tensor<3x1xui8>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK:      func.func @gather_at_bytes([[X:%\w+]]: tensor<300xf32>, [[I:%\w+]]: tensor<3x1xui8>
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convert [[I]] : (tensor<3x1xui8>) -> tensor<3x1xi32>
// CHECK-NEXT:   "stablehlo.gather"([[X]], [[WIDE]])

// Starts of fewer than 32 bits are widened, so that negative ones stay negative.
func.func @starts_in_narrow_integers(%x: tensor<300xf32>, %i: tensor<i8>) -> tensor<300xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<300xf32>, tensor<i8>) -> tensor<2xf32>
  %1 = stablehlo.dynamic_update_slice %x, %0, %i : (tensor<300xf32>, tensor<2xf32>, tensor<i8>) -> tensor<300xf32>
  return %1 : tensor<300xf32>
}
// CHECK:      func.func @starts_in_narrow_integers([[X:%\w+]]: tensor<300xf32>, [[I:%\w+]]: tensor<i8>
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convert [[I]] : (tensor<i8>) -> tensor<i32>
// CHECK-NEXT:   [[PART:%\w+]] = stablehlo.dynamic_slice [[X]], [[WIDE]], sizes = [2]
// CHECK:        [[AGAIN:%\w+]] = stablehlo.convert [[I]] : (tensor<i8>) -> tensor<i32>
// CHECK:        stablehlo.dynamic_update_slice {{.*}}, [[PART]], [[AGAIN]]

func.func @unsigned_starts(%x: tensor<5xf32>, %i: tensor<ui64>) -> tensor<1xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<5xf32>, tensor<ui64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// CHECK:      func.func @unsigned_starts([[X:%\w+]]: tensor<5xf32>, [[I:%\w+]]: tensor<ui64>
// CHECK:        [[LEAST:%\w+]] = stablehlo.minimum [[I]]
// CHECK:        [[START:%\w+]] = stablehlo.convert [[LEAST]] : (tensor<ui64>) -> tensor<i64>
// CHECK:        stablehlo.dynamic_slice [[X]], [[START]], sizes = [1]

// These are known to lie within: 2 + 0, 1, 2.
func.func @gather_within(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<3x1xi32>
  %two = stablehlo.constant dense<2> : tensor<3x1xi32>
  %j = stablehlo.add %i, %two : tensor<3x1xi32>
  %0 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
// CHECK:      func.func @gather_within
// CHECK-NOT:    stablehlo.clamp
// CHECK:        return

// Without updates nothing changes.
func.func @empty_scatter(%x: tensor<8xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK:      func.func @empty_scatter([[X:%\w+]]: tensor<8xf32>
// CHECK-NEXT:   return [[X]]

// One window is read, added to, and written back.
func.func @scatter_of_one_window(%x: tensor<8xf32>, %i: tensor<1xi32>, %u: tensor<3xf32>) -> tensor<8xf32> {
  %first = stablehlo.constant dense<0> : tensor<i32>
  %last = stablehlo.constant dense<5> : tensor<i32>
  %j = stablehlo.clamp %first, %i, %last : (tensor<i32>, tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
  %0 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK:      func.func @scatter_of_one_window([[X:%\w+]]: tensor<8xf32>, [[I:%\w+]]: tensor<1xi32>, [[U:%\w+]]: tensor<3xf32>
// CHECK:        [[J:%\w+]] = stablehlo.clamp
// CHECK:        [[START:%\w+]] = stablehlo.reshape [[J]]
// CHECK:        [[THERE:%\w+]] = stablehlo.dynamic_slice [[X]], [[START]], sizes = [3]
// CHECK:        [[SUM:%\w+]] = stablehlo.add [[THERE]], [[U]]
// CHECK:        stablehlo.dynamic_update_slice {{.*}}, [[SUM]], [[START]]

// Updates beyond the array add zero, somewhere within it.
func.func @scatter_by_rows(%x: tensor<8xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK:      func.func @scatter_by_rows([[X:%\w+]]: tensor<8xf32>, [[I:%\w+]]: tensor<3x1xi32>, [[U:%\w+]]: tensor<3xf32>
// CHECK:        [[INSIDE:%\w+]] = stablehlo.clamp {{.*}}, [[I]],
// CHECK:        stablehlo.compare EQ, [[I]],
// CHECK:        [[UPDATES:%\w+]] = stablehlo.select {{.*}}, [[U]],
// CHECK:        "stablehlo.scatter"({{.*}}, {{.*}}, [[UPDATES]])

// Two windows of two columns each, of three rows: six rows of one column, transposed to the front.
func.func @windows(%x: tensor<3x8xf32>, %u: tensor<2x3x2xf32>) -> tensor<3x8xf32> {
  %i = stablehlo.constant dense<[[0], [4]]> : tensor<2x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x8xf32>, tensor<2x1xi32>, tensor<2x3x2xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
// CHECK:      func.func @windows([[X:%\w+]]: tensor<3x8xf32>, [[U:%\w+]]: tensor<2x3x2xf32>
// CHECK:        [[COLUMNS:%\w+]] = stablehlo.transpose [[X]], dims = [1, 0]
// CHECK:        [[WITHIN:%\w+]] = stablehlo.iota dim = 1 : tensor<2x2xi32>
// CHECK:        stablehlo.add {{.*}}, [[WITHIN]]
// CHECK:        [[PARTS:%\w+]] = stablehlo.transpose [[U]], dims = [0, 2, 1]
// CHECK:        [[ROWS:%\w+]] = stablehlo.reshape [[PARTS]] : (tensor<2x2x3xf32>) -> tensor<4x3xf32>
// CHECK:        [[R:%\w+]] = "stablehlo.scatter"({{.*}}, {{.*}}, [[ROWS]])
// CHECK:        stablehlo.transpose [[R]], dims = [1, 0]

// The dimension of the index vectors goes to the end.
func.func @index_vectors_last(%x: tensor<3x2x4xf64>, %i: tensor<3x2x2xi32>) -> tensor<3x2x2x3xf64> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 3], operand_batching_dims = [1], start_indices_batching_dims = [2], start_index_map = [2, 0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1, 3>}> : (tensor<3x2x4xf64>, tensor<3x2x2xi32>) -> tensor<3x2x2x3xf64>
  return %0 : tensor<3x2x2x3xf64>
}
// CHECK:      func.func @index_vectors_last
// CHECK:        stablehlo.transpose %arg1, dims = [0, 2, 1]
// CHECK:        "stablehlo.gather"(%arg0
// CHECK-SAME:     start_indices_batching_dims = [1], start_index_map = [2, 0], index_vector_dim = 2
