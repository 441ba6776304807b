// A slice that takes every other element cannot be fused into a reverse: a barrier parts them.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @read_of_slice(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.slice %x [0:8:2] : (tensor<8xf32>) -> tensor<4xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK:      func.func @read_of_slice
// CHECK:        [[S:%\w+]] = stablehlo.slice
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[S]]
// CHECK-NEXT:   stablehlo.reverse [[B]], dims = [0]

// Whole rows one after the other need none.
func.func @rows(%x: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.slice %x [2:6, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
// CHECK:      func.func @rows
// CHECK-NOT:    optimization_barrier
// CHECK:        return

// Nor can it be where an elementwise operation stands between.
func.func @through(%x: tensor<4x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x1xf32> {
  %0 = stablehlo.slice %x [0:4, 1:2] : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %1 = stablehlo.tanh %0 : tensor<4x1xf32>
  %2 = "stablehlo.gather"(%1, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x1xf32>, tensor<3x1xi32>) -> tensor<3x1xf32>
  return %2 : tensor<3x1xf32>
}
// CHECK:      func.func @through
// CHECK:        [[Y:%\w+]] = stablehlo.tanh
// CHECK:        [[B:%\w+]] = stablehlo.optimization_barrier [[Y]]
// CHECK:        "stablehlo.gather"([[B]],

// Nor where its bits get another dtype, as those of unsigned integers do.
func.func @of_bits(%x: tensor<8xui32>) -> tensor<4xui32> {
  %0 = stablehlo.slice %x [0:8:2] : (tensor<8xui32>) -> tensor<4xui32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4xui32>
  return %1 : tensor<4xui32>
}
// CHECK:      func.func @of_bits
// CHECK:        [[Y:%\w+]] = stablehlo.bitcast_convert {{.*}} -> tensor<4xi32>
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[Y]]
// CHECK-NEXT:   stablehlo.reverse [[B]], dims = [0]

// Nor can a pad that crops rows.
func.func @cropped(%x: tensor<2x1x2xf32>, %i: tensor<3x1xi32>) -> tensor<3x1x1xf32> {
  %z = stablehlo.constant dense<0.5> : tensor<f32>
  %0 = stablehlo.pad %x, %z, low = [0, 0, -1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x1x2xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x1x1xf32>, tensor<3x1xi32>) -> tensor<3x1x1xf32>
  return %1 : tensor<3x1x1xf32>
}
// CHECK:      func.func @cropped
// CHECK:        [[P:%\w+]] = stablehlo.pad
// CHECK:        [[B:%\w+]] = stablehlo.optimization_barrier [[P]]
// CHECK:        "stablehlo.gather"([[B]],

// A pad, then an update of what it made.
func.func @update_of_part(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<7xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %z, low = [0], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<7xf32>, tensor<2xf32>, tensor<i32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}
// CHECK:      func.func @update_of_part
// CHECK:        [[P:%\w+]] = stablehlo.pad
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[P]]

// An interior pad is written behind a barrier.
func.func @update_by_interior_pad(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<9xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<9xf32>
  %0 = stablehlo.pad %x, %z, low = [0], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  %1 = stablehlo.dynamic_update_slice %zeros, %0, %i : (tensor<9xf32>, tensor<7xf32>, tensor<i32>) -> tensor<9xf32>
  return %1 : tensor<9xf32>
}
// CHECK:      func.func @update_by_interior_pad
// CHECK:        [[P:%\w+]] = stablehlo.pad
// CHECK:        [[B:%\w+]] = stablehlo.optimization_barrier [[P]]
// CHECK:        stablehlo.dynamic_update_slice {{.*}}, [[B]],

// So must a part of what is computed.
func.func @update_of_part_of_computed(%x: tensor<4x4xf32>, %u: tensor<f32>, %i: tensor<1x1xi32>) -> tensor<3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.slice %0 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %3 = stablehlo.broadcast_in_dim %u, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %2 = "stablehlo.scatter"(%1, %i, %3) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<3xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
// CHECK:      func.func @update_of_part_of_computed
// CHECK:        [[P:%\w+]] = stablehlo.slice
// CHECK:        stablehlo.optimization_barrier [[P]]

// The other way round.
func.func @pad_of_pad(%x: tensor<4xf32>, %u: tensor<2xf32>) -> tensor<7xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = stablehlo.pad %0, %z, low = [0], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}
// CHECK:      func.func @pad_of_pad
// CHECK:        [[S:%\w+]] = "stablehlo.scatter"
// CHECK:        [[B:%\w+]] = stablehlo.optimization_barrier [[S]]
// CHECK-NEXT:   stablehlo.pad [[B]],

// One window of three of four elements: the fourth is cut off.
func.func @single_strided_window(%x: tensor<4xf32>) -> tensor<1xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// CHECK:      func.func @single_strided_window([[X:%\w+]]: tensor<4xf32>
// CHECK:        [[CUT:%\w+]] = stablehlo.pad [[X]], {{.*}} high = [-1]
// CHECK:        "stablehlo.reduce_window"([[CUT]],
// CHECK-SAME:     window_strides = array<i64: 1>

// A pad, then windows that pad its result; windows that do not pad need no barrier.
func.func @windows_of_padded(%x: tensor<4xf32>) -> (tensor<7xf32>, tensor<6xf32>) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [0], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  %1 = "stablehlo.reduce_window"(%0, %c) <{padding = dense<[[0, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %2 = "stablehlo.reduce_window"(%0, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<7xf32>, tensor<f32>) -> tensor<6xf32>
  return %1, %2 : tensor<7xf32>, tensor<6xf32>
}
// CHECK:      func.func @windows_of_padded
// CHECK:        [[P:%\w+]] = stablehlo.pad
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[P]]
// CHECK-NEXT:   "stablehlo.reduce_window"([[B]],
// CHECK:        "stablehlo.reduce_window"([[P]],

// A sort, then windows over it with padding.
func.func @sort_in_padded(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "stablehlo.reduce_window"(%0, %z) <{padding = dense<1> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}
// CHECK:      func.func @sort_in_padded
// CHECK:        [[S:%\w+]] = "stablehlo.sort"
// CHECK:        [[B:%\w+]] = stablehlo.optimization_barrier [[S]]
// CHECK:        "stablehlo.reduce_window"([[B]],

// Booleans of a choice by one boolean are made behind a barrier; other numbers need none.
func.func @booleans_of_choice(%p: tensor<i1>, %x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi32>) {
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<4xi32>
  %1 = stablehlo.convert %0 : (tensor<4xi32>) -> tensor<4xi1>
  %2 = stablehlo.select %p, %y, %x : tensor<i1>, tensor<4xi32>
  %3 = stablehlo.add %2, %x : tensor<4xi32>
  return %1, %3 : tensor<4xi1>, tensor<4xi32>
}
// CHECK:      func.func @booleans_of_choice
// CHECK:        [[S:%\w+]] = stablehlo.select
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[S]]
// CHECK-NOT:    optimization_barrier

// Updates that are gathered from the array itself are made before it is written over; others need
// not be.
func.func @scatter_of_own_elements(%x: tensor<4x28xi32>, %i: tensor<4x2xi32>, %p: tensor<4xi1>) -> (tensor<4x28xi32>, tensor<4x28xi32>) {
  %z = stablehlo.constant dense<0> : tensor<4xi32>
  %a = stablehlo.negate %x : tensor<4x28xi32>
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x28xi32>, tensor<4x2xi32>) -> tensor<4xi32>
  %1 = stablehlo.select %p, %z, %0 : tensor<4xi1>, tensor<4xi32>
  %2 = "stablehlo.scatter"(%a, %i, %1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%b: tensor<i32>, %c: tensor<i32>):
    stablehlo.return %c : tensor<i32>
  }) : (tensor<4x28xi32>, tensor<4x2xi32>, tensor<4xi32>) -> tensor<4x28xi32>
  %3 = stablehlo.abs %2 : tensor<4x28xi32>
  %4 = "stablehlo.scatter"(%3, %i, %1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%b: tensor<i32>, %c: tensor<i32>):
    stablehlo.return %c : tensor<i32>
  }) : (tensor<4x28xi32>, tensor<4x2xi32>, tensor<4xi32>) -> tensor<4x28xi32>
  return %2, %4 : tensor<4x28xi32>, tensor<4x28xi32>
}
// CHECK:      func.func @scatter_of_own_elements
// CHECK:        [[G:%\w+]] = "stablehlo.gather"
// CHECK:        [[B:%\w+]] = stablehlo.optimization_barrier {{%\w+}} : tensor<4xi32>
// CHECK-NEXT:   "stablehlo.scatter"({{%\w+}}, {{%\w+}}, [[B]])
// CHECK-NOT:    optimization_barrier
// CHECK:        return

// An array that is copied first may be read while the copy is written over.
func.func @scatter_of_gathered(%x: tensor<30xi32>, %i: tensor<7x1xi32>) -> tensor<7xi32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<30xi32>, tensor<7x1xi32>) -> tensor<7xi32>
  %1 = stablehlo.negate %0 : tensor<7xi32>
  %2 = "stablehlo.scatter"(%0, %i, %1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%b: tensor<i32>, %c: tensor<i32>):
    stablehlo.return %c : tensor<i32>
  }) : (tensor<7xi32>, tensor<7x1xi32>, tensor<7xi32>) -> tensor<7xi32>
  return %2 : tensor<7xi32>
}
// CHECK:      func.func @scatter_of_gathered
// CHECK:        [[X:%\w+]] = "stablehlo.gather"
// CHECK:        stablehlo.negate [[X]]
// CHECK:        optimization_barrier [[X]]
// CHECK-NOT:    optimization_barrier
// CHECK:        return

// Updates beyond an array are replaced by an element of it, which is read first, too.
func.func @scatter_into_carried(%x: tensor<8xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>, %n: tensor<i32>) -> tensor<8xi32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%k = %z, %y = %x) : tensor<i32>, tensor<8xi32>
  cond {
    %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %k, %one : tensor<i32>
    %2 = "stablehlo.scatter"(%y, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%b: tensor<i32>, %c: tensor<i32>):
      stablehlo.return %c : tensor<i32>
    }) : (tensor<8xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<8xi32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8xi32>
  }
  return %0#1 : tensor<8xi32>
}
// CHECK:      func.func @scatter_into_carried
// CHECK:      stablehlo.while({{.*}}[[Y:%\w+]] = %arg0)
// CHECK:        "stablehlo.gather"([[Y]]
// CHECK:        [[U:%\w+]] = stablehlo.select {{.*}} : tensor<3xi1>, tensor<3xi32>
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.optimization_barrier [[U]]
// CHECK-NEXT:   "stablehlo.scatter"([[Y]], {{%\w+}}, [[B]])

func.func @windows_of_windows(%x: tensor<6xf32>) -> tensor<6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = stablehlo.negate %0 : tensor<6xf32>
  %2 = "stablehlo.reduce_window"(%1, %z) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}
// CHECK-LABEL: func.func @windows_of_windows
// CHECK:       [[ONE:%\w+]] = stablehlo.negate
// CHECK:       [[APART:%\w+]] = stablehlo.optimization_barrier [[ONE]]
// CHECK:       "stablehlo.reduce_window"([[APART]],
