// No windows, no sums.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @empty_convolution(%x: tensor<2x3x4xf32>, %y: tensor<5x3x6xf32>) -> tensor<2x5x0xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x4xf32>, tensor<5x3x6xf32>) -> tensor<2x5x0xf32>
  return %0 : tensor<2x5x0xf32>
}
// CHECK:      func.func @empty_convolution
// CHECK-NEXT:   [[NOTHING:%\w+]] = stablehlo.constant dense<> : tensor<2x5x0xf32>
// CHECK-NEXT:   return [[NOTHING]]

// Narrow floats are multiplied and summed in float32.
func.func @narrow_convolution(%x: tensor<2x9x3xbf16>, %y: tensor<3x3x4xbf16>) -> tensor<2x7x4xbf16> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x9x3xbf16>, tensor<3x3x4xbf16>) -> tensor<2x7x4xbf16>
  return %0 : tensor<2x7x4xbf16>
}
// CHECK:      func.func @narrow_convolution([[X:%\w+]]: tensor<2x9x3xbf16>, [[Y:%\w+]]: tensor<3x3x4xbf16>
// CHECK-NEXT:   [[WX:%\w+]] = stablehlo.convert [[X]] : (tensor<2x9x3xbf16>) -> tensor<2x9x3xf32>
// CHECK-NEXT:   [[WY:%\w+]] = stablehlo.convert [[Y]] : (tensor<3x3x4xbf16>) -> tensor<3x3x4xf32>
// CHECK-NEXT:   [[WIDE:%\w+]] = stablehlo.convolution([[WX]], [[WY]]) {{.*}} -> tensor<2x7x4xf32>
// CHECK-NEXT:   stablehlo.convert [[WIDE]] : (tensor<2x7x4xf32>) -> tensor<2x7x4xbf16>

// (a + bi)(c + di) = ac - bd + (ad + bc)i
func.func @complex_convolution(%x: tensor<2x9x3xcomplex<f32>>, %y: tensor<3x3x4xcomplex<f32>>) -> tensor<2x7x4xcomplex<f32>> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x9x3xcomplex<f32>>, tensor<3x3x4xcomplex<f32>>) -> tensor<2x7x4xcomplex<f32>>
  return %0 : tensor<2x7x4xcomplex<f32>>
}
// CHECK:      func.func @complex_convolution([[X:%\w+]]: tensor<2x9x3xcomplex<f32>>, [[Y:%\w+]]: tensor<3x3x4xcomplex<f32>>
// CHECK-NEXT:   [[A:%\w+]] = stablehlo.real [[X]]
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.imag [[X]]
// CHECK-NEXT:   [[C:%\w+]] = stablehlo.real [[Y]]
// CHECK-NEXT:   [[D:%\w+]] = stablehlo.imag [[Y]]
// CHECK-NEXT:   [[AC:%\w+]] = stablehlo.convolution([[A]], [[C]])
// CHECK-NEXT:   [[BD:%\w+]] = stablehlo.convolution([[B]], [[D]])
// CHECK-NEXT:   [[REAL:%\w+]] = stablehlo.subtract [[AC]], [[BD]]
// CHECK-NEXT:   [[AD:%\w+]] = stablehlo.convolution([[A]], [[D]])
// CHECK-NEXT:   [[BC:%\w+]] = stablehlo.convolution([[B]], [[C]])
// CHECK-NEXT:   [[IMAG:%\w+]] = stablehlo.add [[AD]], [[BC]]
// CHECK-NEXT:   stablehlo.complex [[REAL]], [[IMAG]]

// One window needs no stride, and nothing after it.
func.func @windows_with_unread_elements(%x: tensor<2x8x9x3xf32>, %y: tensor<2x3x3x4xf32>) -> tensor<2x1x7x4xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [7, 1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x8x9x3xf32>, tensor<2x3x3x4xf32>) -> tensor<2x1x7x4xf32>
  return %0 : tensor<2x1x7x4xf32>
}
// CHECK:      func.func @windows_with_unread_elements
// CHECK-NEXT:   stablehlo.convolution{{.*}} window = {stride = [1, 1], pad = {{\[\[}}0, -6], [0, 0]]

func.func @backward_kernel(%x: tensor<2x9x3xf32>, %y: tensor<3x1x3xf32>) -> tensor<2x7x3xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], reverse = [true]} {feature_group_count = 3 : i64, batch_group_count = 1 : i64} : (tensor<2x9x3xf32>, tensor<3x1x3xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}
// CHECK:      func.func @backward_kernel([[X:%\w+]]: tensor<2x9x3xf32>, [[Y:%\w+]]: tensor<3x1x3xf32>
// CHECK-NEXT:   [[BACK:%\w+]] = stablehlo.reverse [[Y]], dims = [0]
// CHECK-NEXT:   [[APART:%\w+]] = stablehlo.optimization_barrier [[BACK]]
// CHECK-NEXT:   stablehlo.convolution([[X]], [[APART]]) {{.*}} reverse = [false]}

// The kernel is larger than the array and the result, which are reversed instead.
func.func @backward_large_kernel(%x: tensor<1x5x2xf32>, %y: tensor<3x2x6xf32>) -> tensor<1x4x6xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 1]], reverse = [true]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x5x2xf32>, tensor<3x2x6xf32>) -> tensor<1x4x6xf32>
  return %0 : tensor<1x4x6xf32>
}
// CHECK:      func.func @backward_large_kernel([[X:%\w+]]: tensor<1x5x2xf32>, [[Y:%\w+]]: tensor<3x2x6xf32>
// CHECK-NEXT:   [[BACK:%\w+]] = stablehlo.reverse [[X]], dims = [1]
// CHECK-NEXT:   [[APART:%\w+]] = stablehlo.optimization_barrier [[BACK]]
// CHECK-NEXT:   [[OUT:%\w+]] = stablehlo.convolution([[APART]], [[Y]]) {{.*}}pad = {{\[\[}}1, 0]]{{.*}}reverse = [false]}
// CHECK-NEXT:   [[APART:%\w+]] = stablehlo.optimization_barrier [[OUT]]
// CHECK-NEXT:   stablehlo.reverse [[APART]], dims = [1]

// The convolution does not see that its kernel is reversed, and its array padded already.
func.func @convolution_of_moved(%x: tensor<2x9x3xf32>, %y: tensor<3x3x4xf32>) -> tensor<2x9x4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %x, %c, low = [0, 1, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x9x3xf32>, tensor<f32>) -> tensor<2x10x3xf32>
  %r = stablehlo.reverse %y, dims = [0] : tensor<3x3x4xf32>
  %0 = stablehlo.convolution(%p, %r) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 1]]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x10x3xf32>, tensor<3x3x4xf32>) -> tensor<2x9x4xf32>
  return %0 : tensor<2x9x4xf32>
}
// CHECK:      func.func @convolution_of_moved
// CHECK:        [[PAD:%\w+]] = stablehlo.pad
// CHECK-NEXT:   [[BACK:%\w+]] = stablehlo.reverse
// CHECK-NEXT:   [[X:%\w+]] = stablehlo.optimization_barrier [[PAD]]
// CHECK-NEXT:   [[Y:%\w+]] = stablehlo.optimization_barrier [[BACK]]
// CHECK-NEXT:   stablehlo.convolution([[X]], [[Y]])

// A large window at two places: two matrix products, of parts of the array and the whole kernel.
func.func @convolution_with_small_result(%x: tensor<2x9x3xf32>, %y: tensor<8x3x4xf32>) -> tensor<2x2x4xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x9x3xf32>, tensor<8x3x4xf32>) -> tensor<2x2x4xf32>
  return %0 : tensor<2x2x4xf32>
}
// CHECK:      func.func @convolution_with_small_result
// CHECK:        [[X:%\w+]] = stablehlo.optimization_barrier {{.*}} : tensor<1x2x9x3xf32>
// CHECK-NEXT:   [[Y:%\w+]] = stablehlo.optimization_barrier {{.*}} : tensor<1x8x3x4xf32>
// CHECK-NEXT:   [[PART:%\w+]] = stablehlo.slice [[X]] [0:1, 0:2, 0:8, 0:3]
// CHECK-NEXT:   [[FIRST:%\w+]] = stablehlo.dot_general [[PART]], [[Y]], batching_dims = [0] x [0], contracting_dims = [2, 3] x [1, 2]
// CHECK-NEXT:   [[A:%\w+]] = stablehlo.reshape [[FIRST]]
// CHECK-NEXT:   [[PART_2:%\w+]] = stablehlo.slice [[X]] [0:1, 0:2, 1:9, 0:3]
// CHECK-NEXT:   [[SECOND:%\w+]] = stablehlo.dot_general [[PART_2]], [[Y]], batching_dims = [0] x [0], contracting_dims = [2, 3] x [1, 2]
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.reshape [[SECOND]]
// CHECK-NEXT:   stablehlo.concatenate [[A]], [[B]], dim = 0
// CHECK:        return {{.*}} : tensor<2x2x4xf32>

// Slices are padded, and not the array.
func.func @convolution_with_small_result.padded(%x: tensor<2x8x3xf32>, %y: tensor<8x3x4xf32>) -> tensor<2x2x4xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 0]]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<8x3x4xf32>) -> tensor<2x2x4xf32>
  return %0 : tensor<2x2x4xf32>
}
// CHECK:      func.func @convolution_with_small_result.padded
// CHECK-NOT:    stablehlo.pad
// CHECK:        [[X:%\w+]] = stablehlo.optimization_barrier {{.*}} : tensor<1x2x8x3xf32>
// CHECK:        [[PART:%\w+]] = stablehlo.slice [[X]] [0:1, 0:2, 0:7, 0:3]
// CHECK:        [[PADDED:%\w+]] = stablehlo.pad [[PART]], {{.*}}, low = [0, 0, 1, 0], high = [0, 0, 0, 0]
// CHECK:        stablehlo.dot_general [[PADDED]]
// CHECK:        stablehlo.dot_general [[X]]

// Two groups and a window of two elements: the sum of two products of two matrices each.
func.func @convolution_by_elements(%x: tensor<2x9x6xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x8x4xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<2x9x6xf32>, tensor<2x3x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}
// CHECK:      func.func @convolution_by_elements
// CHECK:        [[X:%\w+]] = stablehlo.optimization_barrier {{.*}} : tensor<2x2x9x3xf32>
// CHECK-NEXT:   [[Y:%\w+]] = stablehlo.optimization_barrier {{.*}} : tensor<2x2x3x2xf32>
// CHECK-NEXT:   stablehlo.slice [[Y]] [0:2, 0:1, 0:3, 0:2]
// CHECK:        stablehlo.slice [[X]] [0:2, 0:2, 0:8, 0:3]
// CHECK-NEXT:   [[A:%\w+]] = stablehlo.dot_general {{.*}} batching_dims = [0] x [0], contracting_dims = [3] x [1]
// CHECK-NEXT:   stablehlo.slice [[Y]] [0:2, 1:2, 0:3, 0:2]
// CHECK:        stablehlo.slice [[X]] [0:2, 0:2, 1:9, 0:3]
// CHECK-NEXT:   [[B:%\w+]] = stablehlo.dot_general {{.*}} batching_dims = [0] x [0], contracting_dims = [3] x [1]
// CHECK-NEXT:   stablehlo.add [[A]], [[B]]
// CHECK:        return {{.*}} : tensor<2x8x4xf32>

// Elements two places apart: for the places on elements and for those between them a kernel each, of
// every second element, side by side in the features.
func.func @convolution_of_dilated(%x: tensor<2x5x4xf32>, %y: tensor<3x4x3xf32>) -> tensor<2x9x3xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [2]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x5x4xf32>, tensor<3x4x3xf32>) -> tensor<2x9x3xf32>
  return %0 : tensor<2x9x3xf32>
}
// CHECK:      func.func @convolution_of_dilated([[X:%\w+]]: tensor<2x5x4xf32>, [[Y:%\w+]]: tensor<3x4x3xf32>
// CHECK:        [[EVEN:%\w+]] = stablehlo.pad [[Y]], {{.*}} low = [0, 0, 0], high = [1, 0, 0]
// CHECK-NEXT:   [[SPLIT:%\w+]] = stablehlo.reshape [[EVEN]] : (tensor<4x4x3xf32>) -> tensor<2x2x4x3xf32>
// CHECK-NEXT:   [[BACK:%\w+]] = stablehlo.reverse [[SPLIT]], dims = [1]
// CHECK-NEXT:   [[MOVED:%\w+]] = stablehlo.transpose [[BACK]], dims = [0, 2, 1, 3]
// CHECK-NEXT:   [[KERNELS:%\w+]] = stablehlo.reshape [[MOVED]] : (tensor<2x4x2x3xf32>) -> tensor<2x4x6xf32>
// CHECK-NEXT:   [[APART:%\w+]] = stablehlo.optimization_barrier [[KERNELS]]
// CHECK-NEXT:   [[BOTH:%\w+]] = stablehlo.convolution([[X]], [[APART]]) {{.*}} pad = {{\[\[}}0, 1]], lhs_dilate = [1], {{.*}} -> tensor<2x5x6xf32>
// CHECK:        [[TURNS:%\w+]] = stablehlo.reshape {{.*}} -> tensor<2x10x3xf32>
// CHECK-NEXT:   stablehlo.slice [[TURNS]] [0:2, 0:9, 0:3]

// Channels first: to channels last, and back.
func.func @convolution_of_another_layout(%x: tensor<2x3x8x9xf32>, %y: tensor<4x3x3x3xf32>) -> tensor<2x4x6x7xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x8x9xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x7xf32>
  return %0 : tensor<2x4x6x7xf32>
}
// CHECK:      func.func @convolution_of_another_layout([[X:%\w+]]: tensor<2x3x8x9xf32>, [[Y:%\w+]]: tensor<4x3x3x3xf32>
// CHECK-NEXT:   [[TX:%\w+]] = stablehlo.transpose [[X]], dims = [0, 2, 3, 1]
// CHECK-NEXT:   [[BX:%\w+]] = stablehlo.optimization_barrier [[TX]]
// CHECK-NEXT:   [[TY:%\w+]] = stablehlo.transpose [[Y]], dims = [2, 3, 1, 0]
// CHECK-NEXT:   [[BY:%\w+]] = stablehlo.optimization_barrier [[TY]]
// CHECK-NEXT:   [[Z:%\w+]] = stablehlo.convolution([[BX]], [[BY]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// CHECK-NEXT:   [[BZ:%\w+]] = stablehlo.optimization_barrier [[Z]]
// CHECK-NEXT:   stablehlo.transpose [[BZ]], dims = [0, 3, 1, 2]

// A kernel of two slices: the sum of two convolutions of images.
func.func @convolution_of_volumes(%x: tensor<2x5x6x7x3xf32>, %y: tensor<2x3x3x3x4xf32>) -> tensor<2x4x4x5x4xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {stride = [1, 1, 1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x5x6x7x3xf32>, tensor<2x3x3x3x4xf32>) -> tensor<2x4x4x5x4xf32>
  return %0 : tensor<2x4x4x5x4xf32>
}
// CHECK:      func.func @convolution_of_volumes([[X:%\w+]]: tensor<2x5x6x7x3xf32>, [[Y:%\w+]]: tensor<2x3x3x3x4xf32>
// CHECK-NEXT:   stablehlo.slice [[X]] [0:2, 0:4, 0:6, 0:7, 0:3]
// CHECK:        [[A:%\w+]] = stablehlo.convolution{{.*}} (tensor<8x6x7x3xf32>, tensor<3x3x3x4xf32>) -> tensor<8x4x5x4xf32>
// CHECK-NEXT:   stablehlo.slice [[X]] [0:2, 1:5, 0:6, 0:7, 0:3]
// CHECK:        [[B:%\w+]] = stablehlo.convolution{{.*}} (tensor<8x6x7x3xf32>, tensor<3x3x3x4xf32>) -> tensor<8x4x5x4xf32>
// CHECK-NEXT:   [[SUM:%\w+]] = stablehlo.add [[A]], [[B]]
// CHECK-NEXT:   stablehlo.reshape [[SUM]] : (tensor<8x4x5x4xf32>) -> tensor<2x4x4x5x4xf32>

// Images, channels last, and features that are each a group: as they are.
func.func @good(%x: tensor<2x8x9x3xf32>, %y: tensor<3x3x3x4xf32>, %z: tensor<2x2x1x4xf32>) -> tensor<2x5x6x4xf32> {
  %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x8x9x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x7x4xf32>
  %1 = stablehlo.convolution(%0, %z) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {feature_group_count = 4 : i64, batch_group_count = 1 : i64} : (tensor<2x6x7x4xf32>, tensor<2x2x1x4xf32>) -> tensor<2x5x6x4xf32>
  return %1 : tensor<2x5x6x4xf32>
}
// CHECK:      func.func @good
// CHECK-NEXT:   stablehlo.convolution
// CHECK-NEXT:   stablehlo.convolution
// CHECK-NEXT:   return
