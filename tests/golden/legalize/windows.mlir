// Short rows, or many side by side: IREE goes along them, forwards.
// RUN: --pipeline "legalize{target=iree-cpu}"
// Blocks of a divisor of the length, side by side; each then begins where the one before it ended.
func.func @cumulative_window_of_blocks(%x: tensor<1200xf32>) -> tensor<1200xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[1199, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1200>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1200xf32>, tensor<f32>) -> tensor<1200xf32>
  return %0 : tensor<1200xf32>
}
// CHECK-LABEL: func.func @cumulative_window_of_blocks
// CHECK-NOT:     stablehlo.pad %arg0
// CHECK:         stablehlo.reshape %arg0 : (tensor<1200xf32>) -> tensor<30x40xf32>
// CHECK:         [[SUM:%\w+]] = stablehlo.add {{.*}} : tensor<30x40xf32>
// CHECK-NEXT:    [[FLAT:%\w+]] = stablehlo.reshape [[SUM]] : (tensor<30x40xf32>) -> tensor<1200xf32>
// CHECK-NEXT:    return [[FLAT]]

func.func @cumulative_window(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{
    padding = dense<[[0, 0], [0, 7]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
// CHECK:      func.func @cumulative_window
// CHECK:        [[TURNED:%\w+]] = stablehlo.reverse %arg0, dims = [1]
// CHECK-NEXT:   [[APART:%\w+]] = stablehlo.optimization_barrier [[TURNED]]
// CHECK:        [[SUMS:%\w+]] = "stablehlo.reduce_window"([[APART]],
// CHECK-SAME:     dense<{{\[\[}}0, 0], [7, 0]]>
// CHECK:        stablehlo.reverse [[SUMS]], dims = [1]

// Of unsigned integers: their highest bits inverted, the order is that of signed ones.
func.func @unsigned(%x: tensor<8xui8>) -> tensor<8xui8> {
  %z = stablehlo.constant dense<0> : tensor<ui8>
  %0 = "stablehlo.reduce_window"(%x, %z) <{
    padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>
  }> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %1 = stablehlo.maximum %a, %b : tensor<ui8>
    stablehlo.return %1 : tensor<ui8>
  }) : (tensor<8xui8>, tensor<ui8>) -> tensor<8xui8>
  return %0 : tensor<8xui8>
}
// CHECK:      func.func @unsigned
// CHECK:        [[INVERTED:%\w+]] = stablehlo.xor %arg0, {{.*}} : tensor<8xui8>
// CHECK-NEXT:   [[SIGNED:%\w+]] = stablehlo.bitcast_convert [[INVERTED]] : (tensor<8xui8>) -> tensor<8xi8>
// CHECK:        "stablehlo.reduce_window"([[SIGNED]], {{.*}} padding = dense<{{\[\[}}7, 0]]>
// CHECK:        stablehlo.bitcast_convert {{.*}} : (tensor<8xi8>) -> tensor<8xui8>
// CHECK:        [[RESULT:%\w+]] = stablehlo.xor
// CHECK-NEXT:   return [[RESULT]]

// A sum of booleans is "or", of any number of them.
func.func @sum_of_booleans(%x: tensor<300xi1>) -> tensor<300xi1> {
  %z = stablehlo.constant dense<false> : tensor<i1>
  %0 = "stablehlo.reduce_window"(%x, %z) <{
    padding = dense<[[299, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 300>
  }> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %1 = stablehlo.add %a, %b : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<300xi1>, tensor<i1>) -> tensor<300xi1>
  return %0 : tensor<300xi1>
}
// CHECK:      func.func @sum_of_booleans
// CHECK:        stablehlo.or {{.*}} : tensor<i8>

// Windows of all elements, but more windows than elements: the array is padded before.
func.func @windows_like_cumulative(%x: tensor<4xi32>) -> tensor<6xi32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[3, 2]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4xi32>, tensor<i32>) -> tensor<6xi32>
  return %0 : tensor<6xi32>
}
// CHECK:      func.func @windows_like_cumulative
// CHECK:        [[PADDED:%\w+]] = stablehlo.pad {{.*}} -> tensor<9xi32>
// CHECK:        "stablehlo.reduce_window"([[PADDED]],
// CHECK-SAME:     padding = dense<0>

// A long row in blocks: within them, then over their ends.
func.func @long(%x: tensor<1500xf32>) -> tensor<1500xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{
    padding = dense<[[1499, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1500>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1500xf32>, tensor<f32>) -> tensor<1500xf32>
  return %0 : tensor<1500xf32>
}
// CHECK:      func.func @long
// CHECK:        [[BLOCKS:%\w+]] = stablehlo.reshape {{.*}} -> tensor<30x50xf32>
// CHECK:        "stablehlo.reduce_window"([[BLOCKS]],
// CHECK-SAME:     window_dimensions = array<i64: 1, 50>
// CHECK:        "stablehlo.reduce_window"
// CHECK-SAME:     window_dimensions = array<i64: 30>
// CHECK:        stablehlo.maximum {{.*}} : tensor<30x50xf32>
// CHECK:        return

// Another computation by doubling: of runs of one, of two, of four.
func.func @pairs(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = "stablehlo.reduce_window"(%x, %y, %z, %z) <{
    padding = dense<[[4, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 5>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    %2 = stablehlo.add %b, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }) : (tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %0#1 : tensor<5xf32>
}
// CHECK:      func.func @pairs
// CHECK-NOT:    reduce_window
// CHECK:        stablehlo.add {{.*}} : tensor<4xf32>
// CHECK:        stablehlo.add {{.*}} : tensor<3xf32>
// CHECK:        stablehlo.add {{.*}} : tensor<1xf32>
// CHECK:        return

// Windows of one element are a slice.
func.func @windows_of_one_element(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<5xf32>
  %1 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1 : tensor<5xf32>, tensor<3xf32>
}
// CHECK:      func.func @windows_of_one_element
// CHECK:        [[Y:%\w+]] = stablehlo.negate
// CHECK-NEXT:   [[P:%\w+]] = stablehlo.pad [[Y]]
// CHECK:        stablehlo.slice [[P]] [0:5:2]
// CHECK-NOT:    reduce_window
// CHECK:        return

// Sums of narrow floats are wide.
func.func @narrow_windows(%x: tensor<8x8xbf16>) -> tensor<5x5xbf16> {
  %init = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 4, 4>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<8x8xbf16>, tensor<bf16>) -> tensor<5x5xbf16>
  return %0 : tensor<5x5xbf16>
}
// CHECK-LABEL: func.func @narrow_windows
// CHECK:         [[WIDE:%\w+]] = stablehlo.convert %arg0 : (tensor<8x8xbf16>) -> tensor<8x8xf32>
// CHECK:         "stablehlo.reduce_window"([[WIDE]],
// CHECK:         stablehlo.convert {{.*}} -> tensor<5x5xbf16>

// Long windows side by side are rows.
func.func @sum_of_long_windows(%x: tensor<10000xf32>) -> tensor<5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2000>, window_strides = array<i64: 2000>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10000xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
// CHECK:      func.func @sum_of_long_windows
// CHECK:        [[ROWS:%\w+]] = stablehlo.reshape %arg0 : (tensor<10000xf32>) -> tensor<5x2000xf32>
// CHECK:        stablehlo.reduce([[ROWS]] init: {{.*}} applies stablehlo.add across dimensions = [1]

// Others are windows of the sums of blocks: 10 of 200 elements.
func.func @sum_of_windows_that_overlap(%x: tensor<10000xf32>) -> tensor<81xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2000>, window_strides = array<i64: 100>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10000xf32>, tensor<f32>) -> tensor<81xf32>
  return %0 : tensor<81xf32>
}
// CHECK:      func.func @sum_of_windows_that_overlap
// CHECK:        [[SUMS:%\w+]] = "stablehlo.reduce_window"(%arg0, {{.*}} window_dimensions = array<i64: 200>, window_strides = array<i64: 100>
// CHECK:        }) : (tensor<10000xf32>, tensor<f32>) -> tensor<99xf32>
// CHECK:        "stablehlo.reduce_window"([[SUMS]], {{.*}} window_dilations = array<i64: 2>, window_dimensions = array<i64: 10>, window_strides = array<i64: 1>
