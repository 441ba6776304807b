// Negative padding of a convolution is a slice, and interior padding writes with a stride.

// RUN: --pipeline "dynamic-shapes,cse"

func.func @conv(%x: tensor<?x9x3xf32, #irax.sizes<"n, 9, 3">>, %k: tensor<3x3x4xf32>) -> tensor<?x3x4xf32, #irax.sizes<"n, 3, 4">> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [3], pad = [[1, -1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x9x3xf32, #irax.sizes<"n, 9, 3">>, tensor<3x3x4xf32>) -> tensor<?x3x4xf32, #irax.sizes<"n, 3, 4">>
  return %0 : tensor<?x3x4xf32, #irax.sizes<"n, 3, 4">>
}

// CHECK-LABEL: @conv(
// CHECK:      [[N:%\w+]] = util.assume.int
// CHECK:      [[PART:%\w+]] = tensor.extract_slice {{%\w+}}[0, 0, 0] {{\[}}[[N]], 8, 3] [1, 1, 1] : tensor<?x9x3xf32> to tensor<?x8x3xf32>
// CHECK:      stablehlo.convolution([[PART]], %arg1)
// CHECK-SAME: pad = {{\[\[}}1, 0]]

func.func @dilated(%x: tensor<?xf32, #irax.sizes<"n">>, %v: tensor<f32>) -> tensor<?xf32, #irax.sizes<"2*n + 1">> {
  %0 = stablehlo.pad %x, %v, low = [1], high = [1], interior = [1] : (tensor<?xf32, #irax.sizes<"n">>, tensor<f32>) -> tensor<?xf32, #irax.sizes<"2*n + 1">>
  return %0 : tensor<?xf32, #irax.sizes<"2*n + 1">>
}

// CHECK-LABEL: @dilated(
// CHECK:      tensor.insert_slice {{%\w+}} into {{%\w+}}[1] [{{%\w+}}] [2] : tensor<?xf32> into tensor<?xf32>
