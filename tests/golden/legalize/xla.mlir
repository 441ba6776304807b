// RUN: --pipeline "legalize{target=pjrt}"

// Windows that start from any number see it in the padding too.
func.func @windows_over_padded(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @windows_over_padded
// CHECK:        [[ZERO:%\w+]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK:        [[P:%\w+]] = stablehlo.pad %arg0, %arg1, low = [1], high = [0]
// CHECK:        [[SUM:%\w+]] = "stablehlo.reduce_window"([[P]], [[ZERO]])
// CHECK-SAME:     padding = dense<0>
// CHECK:        [[INIT:%\w+]] = stablehlo.broadcast_in_dim %arg1
// CHECK:        stablehlo.add [[SUM]], [[INIT]]

// Sums from zero stay as they are.
func.func @from_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK:      func.func @from_zero
// CHECK-NOT:    stablehlo.pad
// CHECK:        "stablehlo.reduce_window"(%arg0,

// A scalar that is written to becomes an array.
func.func @scatter_into_scalar(%x: tensor<f32>, %i: tensor<3x0xi32>, %u: tensor<3xf32>) -> tensor<f32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<f32>, tensor<3x0xi32>, tensor<3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK:      func.func @scatter_into_scalar
// CHECK:        [[X:%\w+]] = stablehlo.reshape %arg0 : (tensor<f32>) -> tensor<1xf32>
// CHECK:        "stablehlo.scatter"([[X]],
// CHECK-SAME:     inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]
// CHECK:        (tensor<1xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<1xf32>

// Sums of narrow floats are wide.
func.func @narrow_windows(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %init = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
// CHECK:      func.func @narrow_windows
// CHECK:        [[WIDE:%\w+]] = stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:        "stablehlo.reduce_window"([[WIDE]],
// CHECK:        stablehlo.convert {{.*}} -> tensor<4xbf16>

// Where one element is folded, the init value counts all the same.
func.func @reduction_of_one(%x: tensor<1x2xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// CHECK:      func.func @reduction_of_one
// CHECK-NOT:    stablehlo.reduce
// CHECK:        [[X:%\w+]] = stablehlo.reshape %arg0
// CHECK:        [[SPREAD:%\w+]] = stablehlo.broadcast_in_dim %arg1
// CHECK:        stablehlo.add [[SPREAD]], [[X]]

// A kernel that is taken backwards is reversed before.
func.func @reversed_convolution(%x: tensor<1x9x8x2xf32>, %y: tensor<3x3x2x4xf32>) -> tensor<1x7x6x4xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x7x6x4xf32>
  return %0 : tensor<1x7x6x4xf32>
}
// CHECK:      func.func @reversed_convolution
// CHECK:        [[Y:%\w+]] = stablehlo.reverse %arg1, dims = [0]
// CHECK:        stablehlo.convolution(%arg0, [[Y]])
// CHECK-NOT:    reverse = [true

// Long constants are written in hexadecimal, in which nobody agrees on booleans.
func.func @constant_of_booleans() -> (tensor<2xi1>, tensor<3xi1>) {
  %0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %1 = stablehlo.constant dense<true> : tensor<3xi1>
  return %0, %1 : tensor<2xi1>, tensor<3xi1>
}
// CHECK:      func.func @constant_of_booleans
// CHECK:        [[BYTES:%\w+]] = stablehlo.constant dense<[1, 0]> : tensor<2xui8>
// CHECK:        [[BOOLS:%\w+]] = stablehlo.convert [[BYTES]] : (tensor<2xui8>) -> tensor<2xi1>
// CHECK:        [[SPLAT:%\w+]] = stablehlo.constant dense<true> : tensor<3xi1>
// CHECK:        return [[BOOLS]], [[SPLAT]]

// A boolean has a byte in XLA: bits are joined and parted by shifts.
func.func @bits_joined(%x: tensor<3x16xi1>) -> tensor<3xui16> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3x16xi1>) -> tensor<3xui16>
  return %0 : tensor<3xui16>
}
// CHECK:      func.func @bits_joined
// CHECK-NOT:    bitcast_convert
// CHECK:        [[I:%\w+]] = stablehlo.iota dim = 1 : tensor<3x16xui16>
// CHECK:        [[W:%\w+]] = stablehlo.convert %arg0 : (tensor<3x16xi1>) -> tensor<3x16xui16>
// CHECK-NEXT:   stablehlo.shift_left [[W]], [[I]]
// CHECK:        stablehlo.reduce

func.func @bits_parted(%x: tensor<3xf32>) -> tensor<3x32xi1> {
  %0 = stablehlo.bitcast_convert %x : (tensor<3xf32>) -> tensor<3x32xi1>
  return %0 : tensor<3x32xi1>
}
// CHECK:      func.func @bits_parted
// CHECK:        stablehlo.bitcast_convert %arg0 : (tensor<3xf32>) -> tensor<3xui32>
// CHECK:        stablehlo.shift_right_logical
// CHECK:        stablehlo.and
// CHECK-NEXT:   stablehlo.convert
