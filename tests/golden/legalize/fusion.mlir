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

// One element: no stride.
func.func @stride_of_one_element_slice(%x: tensor<8xf32>) -> tensor<1xf32> {
  %0 = stablehlo.slice %x [4:8:4] : (tensor<8xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// CHECK:      func.func @stride_of_one_element_slice
// CHECK:        stablehlo.slice {{.*}} [4:5]

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
