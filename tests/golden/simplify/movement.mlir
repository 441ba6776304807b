// Ops that only move elements: two of a kind are one, and one that moves nothing is none.

// RUN: --pipeline "simplify"

func.func @transpose_of_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = stablehlo.transpose %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// CHECK:      func.func @transpose_of_nothing([[X:%\w+]]: tensor<2x3xf32>)
// CHECK-NEXT:   return [[X]] : tensor<2x3xf32>

func.func @transpose_of_transpose(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x3x4xf32>) {
  %a = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %b = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<4x2x3xf32>) -> tensor<4x3x2xf32>
  %c = stablehlo.transpose %a, dims = [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %b, %c : tensor<4x3x2xf32>, tensor<2x3x4xf32>
}
// CHECK:      func.func @transpose_of_transpose([[X:%\w+]]: tensor<2x3x4xf32>)
// CHECK-NEXT:   [[TRANSPOSE:%\w+]] = stablehlo.transpose [[X]], dims = [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT:   return [[TRANSPOSE]], [[X]] : tensor<4x3x2xf32>, tensor<2x3x4xf32>

func.func @transpose_of_broadcast(%x: tensor<2x3xf32>) -> tensor<3x2x5xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x5x3xf32>
  %b = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x5x3xf32>) -> tensor<3x2x5xf32>
  return %b : tensor<3x2x5xf32>
}
// CHECK:      func.func @transpose_of_broadcast([[X:%\w+]]: tensor<2x3xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2x5xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<3x2x5xf32>

func.func @reshape_to_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// CHECK:      func.func @reshape_to_same([[X:%\w+]]: tensor<2x3xf32>)
// CHECK-NEXT:   return [[X]] : tensor<2x3xf32>

func.func @reshape_of_reshape(%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %a = stablehlo.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %b = stablehlo.reshape %a : (tensor<12xf32>) -> tensor<3x4xf32>
  return %b : tensor<3x4xf32>
}
// CHECK:      func.func @reshape_of_reshape([[X:%\w+]]: tensor<2x6xf32>)
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[X]] : (tensor<2x6xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   return [[RESHAPE]] : tensor<3x4xf32>

// A reshape that adds 1s, or drops them, is another broadcast
func.func @reshape_of_broadcast(%x: tensor<3xf32>) -> (tensor<1x2x1x3x1xf32>, tensor<2x3xf32>) {
  %a = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %b = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<1x2x1x3x1xf32>
  %c = stablehlo.broadcast_in_dim %x, dims = [3] : (tensor<3xf32>) -> tensor<1x2x1x3xf32>
  %d = stablehlo.reshape %c : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  return %b, %d : tensor<1x2x1x3x1xf32>, tensor<2x3xf32>
}
// CHECK:      func.func @reshape_of_broadcast([[X:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [3] : (tensor<3xf32>) -> tensor<1x2x1x3x1xf32>
// CHECK-NEXT:   [[BROADCAST_2:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   return [[BROADCAST]], [[BROADCAST_2]] : tensor<1x2x1x3x1xf32>, tensor<2x3xf32>

// A broadcast that adds no elements is a reshape
func.func @broadcast_to_same(%x: tensor<3x1xf32>, %y: tensor<3xf32>) -> (tensor<3x1xf32>, tensor<1x3x1xf32>) {
  %a = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1xf32>
  return %a, %b : tensor<3x1xf32>, tensor<1x3x1xf32>
}
// CHECK:      func.func @broadcast_to_same([[X:%\w+]]: tensor<3x1xf32>, [[Y:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[RESHAPE:%\w+]] = stablehlo.reshape [[Y]] : (tensor<3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT:   return [[X]], [[RESHAPE]] : tensor<3x1xf32>, tensor<1x3x1xf32>

func.func @broadcast_of_broadcast(%x: tensor<3x1xf32>) -> tensor<3x2x4xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<3x1xf32>) -> tensor<4x3xf32>
  %b = stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<4x3xf32>) -> tensor<3x2x4xf32>
  return %b : tensor<3x2x4xf32>
}
// CHECK:      func.func @broadcast_of_broadcast([[X:%\w+]]: tensor<3x1xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [0, 2] : (tensor<3x1xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<3x2x4xf32>

// keepdims=True, and then stretched
func.func @broadcast_of_reshape(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %a = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<1x3x1xf32>
  %b = stablehlo.broadcast_in_dim %a, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
  return %b : tensor<2x3x4xf32>
}
// CHECK:      func.func @broadcast_of_reshape([[X:%\w+]]: tensor<3xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<2x3x4xf32>

func.func @broadcast_of_transpose(%x: tensor<2x3x4xf32>) -> tensor<4x5x2x3xf32> {
  %a = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %b = stablehlo.broadcast_in_dim %a, dims = [0, 2, 3] : (tensor<4x2x3xf32>) -> tensor<4x5x2x3xf32>
  return %b : tensor<4x5x2x3xf32>
}
// CHECK:      func.func @broadcast_of_transpose([[X:%\w+]]: tensor<2x3x4xf32>)
// CHECK-NEXT:   [[BROADCAST:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [2, 3, 0] : (tensor<2x3x4xf32>) -> tensor<4x5x2x3xf32>
// CHECK-NEXT:   return [[BROADCAST]] : tensor<4x5x2x3xf32>

func.func @slice_of_everything(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.slice %x [0:4] : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK:      func.func @slice_of_everything([[X:%\w+]]: tensor<4xf32>)
// CHECK-NEXT:   return [[X]] : tensor<4xf32>

// x[1:18:3][1:6:2] is x[4:17:6]
func.func @slice_of_slice(%x: tensor<20x6xf32>) -> tensor<3x2xf32> {
  %a = stablehlo.slice %x [1:18:3, 2:6] : (tensor<20x6xf32>) -> tensor<6x4xf32>
  %b = stablehlo.slice %a [1:6:2, 1:3] : (tensor<6x4xf32>) -> tensor<3x2xf32>
  return %b : tensor<3x2xf32>
}
// CHECK:      func.func @slice_of_slice([[X:%\w+]]: tensor<20x6xf32>)
// CHECK-NEXT:   [[SLICE:%\w+]] = stablehlo.slice [[X]] [4:17:6, 3:5] : (tensor<20x6xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   return [[SLICE]] : tensor<3x2xf32>

// Of nothing, too.
func.func @slice_of_slice.nothing(%x: tensor<20xf32>) -> tensor<0xf32> {
  %0 = stablehlo.slice %x [2:20:3] : (tensor<20xf32>) -> tensor<6xf32>
  %1 = stablehlo.slice %0 [0:0] : (tensor<6xf32>) -> tensor<0xf32>
  return %1 : tensor<0xf32>
}
// CHECK:      func.func @slice_of_slice.nothing
// CHECK-NEXT:   stablehlo.slice %arg0 [2:2:3] : (tensor<20xf32>) -> tensor<0xf32>

// Padding that is zero everywhere, or only cuts
func.func @pad_without_padding(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<3xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.pad %x, %0, low = [0], high = [0], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %b = stablehlo.pad %x, %0, low = [-1], high = [-2], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<3xf32>
  return %a, %b : tensor<6xf32>, tensor<3xf32>
}
// CHECK:      func.func @pad_without_padding([[X:%\w+]]: tensor<6xf32>)
// CHECK-NEXT:   [[SLICE:%\w+]] = stablehlo.slice [[X]] [1:4] : (tensor<6xf32>) -> tensor<3xf32>
// CHECK-NEXT:   return [[X]], [[SLICE]] : tensor<6xf32>, tensor<3xf32>

// Nothing is between the elements of dimensions of one
func.func @pad_within_one(%x: tensor<1xf32>, %y: tensor<1x2xf32>) -> (tensor<1xf32>, tensor<2x4xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.pad %x, %0, low = [0], high = [0], interior = [3] : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %b = stablehlo.pad %y, %0, low = [1, 0], high = [0, 0], interior = [1, 2] : (tensor<1x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %a, %b : tensor<1xf32>, tensor<2x4xf32>
}
// CHECK:      func.func @pad_within_one([[X:%\w+]]: tensor<1xf32>, [[Y:%\w+]]: tensor<1x2xf32>)
// CHECK:        [[PAD:%\w+]] = stablehlo.pad [[Y]], {{.*}}, low = [1, 0], high = [0, 0], interior = [0, 2]
// CHECK-NEXT:   return [[X]], [[PAD]]

// Twos padded with twos
func.func @pad_of_same() -> tensor<81xf32> {
  %x = stablehlo.constant dense<2.0> : tensor<40xf32>
  %2 = stablehlo.constant dense<2.0> : tensor<f32>
  %y = stablehlo.pad %x, %2, low = [3], high = [-1], interior = [1] : (tensor<40xf32>, tensor<f32>) -> tensor<81xf32>
  return %y : tensor<81xf32>
}
// CHECK:      func.func @pad_of_same()
// CHECK-NEXT:   [[TWO:%\w+]] = stablehlo.constant dense<2.000000e+00> : tensor<81xf32>
// CHECK-NEXT:   return [[TWO]] : tensor<81xf32>

func.func @reverse_of_nothing(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = stablehlo.reverse %x, dims = [1] : tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}
// CHECK:      func.func @reverse_of_nothing([[X:%\w+]]: tensor<4x1xf32>)
// CHECK-NEXT:   return [[X]] : tensor<4x1xf32>

// Dimension 2 is reversed twice
func.func @reverse_of_reverse(%x: tensor<4x3x2xf32>) -> (tensor<4x3x2xf32>, tensor<4x3x2xf32>) {
  %a = stablehlo.reverse %x, dims = [0, 2] : tensor<4x3x2xf32>
  %b = stablehlo.reverse %a, dims = [2, 1] : tensor<4x3x2xf32>
  %c = stablehlo.reverse %a, dims = [2, 0] : tensor<4x3x2xf32>
  return %b, %c : tensor<4x3x2xf32>, tensor<4x3x2xf32>
}
// CHECK:      func.func @reverse_of_reverse([[X:%\w+]]: tensor<4x3x2xf32>)
// CHECK-NEXT:   [[REVERSE:%\w+]] = stablehlo.reverse [[X]], dims = [0, 1] : tensor<4x3x2xf32>
// CHECK-NEXT:   return [[REVERSE]], [[X]] : tensor<4x3x2xf32>, tensor<4x3x2xf32>

func.func @concatenate_of_empty(%x: tensor<4xf32>, %y: tensor<0xf32>, %z: tensor<2xf32>) -> (tensor<6xf32>, tensor<4xf32>) {
  %a = stablehlo.concatenate %x, %y, %z, dim = 0 : (tensor<4xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<6xf32>
  %b = stablehlo.concatenate %y, %x, dim = 0 : (tensor<0xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<6xf32>, tensor<4xf32>
}
// CHECK:      func.func @concatenate_of_empty([[X:%\w+]]: tensor<4xf32>,
// CHECK-SAME:   [[Y:%\w+]]: tensor<0xf32>,
// CHECK-SAME:   [[Z:%\w+]]: tensor<2xf32>)
// CHECK-NEXT:   [[CONCATENATE:%\w+]] = stablehlo.concatenate [[X]], [[Z]], dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
// CHECK-NEXT:   return [[CONCATENATE]], [[X]] : tensor<6xf32>, tensor<4xf32>

// Counting to one
func.func @iota_of_one() -> tensor<3x1xi32> {
  %x = stablehlo.iota dim = 1 : tensor<3x1xi32>
  return %x : tensor<3x1xi32>
}
// CHECK:      func.func @iota_of_one()
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0> : tensor<3x1xi32>
// CHECK-NEXT:   return [[ZERO]] : tensor<3x1xi32>

// Rows of one element are in order.
func.func @sort_of_one(%x: tensor<3x1xf32>, %y: tensor<3x1xi32>)
    -> (tensor<3x1xf32>, tensor<3x1xi32>) {
  %a, %b = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %s: tensor<i32>):
    %less = stablehlo.compare LT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<3x1xf32>, tensor<3x1xi32>) -> (tensor<3x1xf32>, tensor<3x1xi32>)
  return %a, %b : tensor<3x1xf32>, tensor<3x1xi32>
}
// CHECK:      func.func @sort_of_one([[X:%\w+]]: tensor<3x1xf32>, [[Y:%\w+]]: tensor<3x1xi32>)
// CHECK-NEXT:   return [[X]], [[Y]] : tensor<3x1xf32>, tensor<3x1xi32>

func.func @top_k_of_one(%x: tensor<3x1xf32>) -> (tensor<3x1xf32>, tensor<3x1xi32>) {
  %a, %b = chlo.top_k(%x, k = 1) : tensor<3x1xf32> -> (tensor<3x1xf32>, tensor<3x1xi32>)
  return %a, %b : tensor<3x1xf32>, tensor<3x1xi32>
}
// CHECK:      func.func @top_k_of_one([[X:%\w+]]: tensor<3x1xf32>)
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.constant dense<0> : tensor<3x1xi32>
// CHECK-NEXT:   return [[X]], [[ZERO]] : tensor<3x1xf32>, tensor<3x1xi32>

// A broadcast of an iota is a larger iota.
func.func @broadcast_of_iota() -> (tensor<4x3x2xi32>, tensor<4x3x2xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %a = stablehlo.broadcast_in_dim %i, dims = [2, 1] : (tensor<2x3xi32>) -> tensor<4x3x2xi32>
  return %a, %a : tensor<4x3x2xi32>, tensor<4x3x2xi32>
}
// CHECK:      func.func @broadcast_of_iota
// CHECK-NEXT:   [[R:%\w+]] = stablehlo.iota dim = 1 : tensor<4x3x2xi32>
// CHECK-NEXT:   return [[R]], [[R]]

func.func @pad_of_pad(%x: tensor<2x3xf32>) -> tensor<9x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.pad %x, %zero, low = [1, 0], high = [0, 2], interior = [4, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<7x5xf32>
  %b = stablehlo.pad %a, %zero, low = [0, 1], high = [2, 0], interior = [0, 0] : (tensor<7x5xf32>, tensor<f32>) -> tensor<9x6xf32>
  return %b : tensor<9x6xf32>
}
// CHECK:      func.func @pad_of_pad([[X:%\w+]]: tensor<2x3xf32>)
// CHECK:        [[PAD:%\w+]] = stablehlo.pad [[X]], {{.*}}, low = [1, 1], high = [2, 2], interior = [4, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<9x6xf32>
// CHECK-NEXT:   return [[PAD]] : tensor<9x6xf32>

// Rows of one element throughout, with what is beside them
func.func @sort_of_equal(%x: tensor<3xf32>, %y: tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
  %1:2 = "stablehlo.sort"(%0, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  return %1#0, %1#1 : tensor<3x4xf32>, tensor<3x4xi32>
}
// CHECK:      func.func @sort_of_equal([[X:%\w+]]: tensor<3xf32>, [[Y:%\w+]]: tensor<3x4xi32>)
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.broadcast_in_dim [[X]]
// CHECK-NEXT:   return [[WIDE]], [[Y]]

// A slice of a number, and of a vector that is repeated in another dimension
func.func @slice_of_broadcast(%x: tensor<f32>, %y: tensor<5x1xf32>) -> (tensor<2xf32>, tensor<2x3x2xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<7xf32>
  %a = stablehlo.slice %0 [1:5:2] : (tensor<7xf32>) -> tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [2, 0] : (tensor<5x1xf32>) -> tensor<4x3x5xf32>
  %b = stablehlo.slice %1 [1:3, 0:3, 0:5:3] : (tensor<4x3x5xf32>) -> tensor<2x3x2xf32>
  return %a, %b : tensor<2xf32>, tensor<2x3x2xf32>
}
// CHECK:      func.func @slice_of_broadcast([[X:%\w+]]: tensor<f32>, [[Y:%\w+]]: tensor<5x1xf32>)
// CHECK-NEXT:   [[A:%\w+]] = stablehlo.broadcast_in_dim [[X]], dims = [] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   [[PART:%\w+]] = stablehlo.slice [[Y]] [0:5:3, 0:1] : (tensor<5x1xf32>) -> tensor<2x1xf32>
// CHECK:        [[B:%\w+]] = stablehlo.broadcast_in_dim {{.*}} -> tensor<2x3x2xf32>
// CHECK-NEXT:   return [[A]], [[B]] : tensor<2xf32>, tensor<2x3x2xf32>
