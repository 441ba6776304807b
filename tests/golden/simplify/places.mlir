// Gathers and scatters whose places are constants.

// RUN: --pipeline "simplify"

// Rows 2 and 0: a slice each, one after the other
func.func @gather_at_constants(%x: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %i = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
// CHECK:      func.func @gather_at_constants([[X:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[TWO:%\w+]] = stablehlo.slice [[X]] [2:3, 0:4]
// CHECK-NEXT:   [[ZERO:%\w+]] = stablehlo.slice [[X]] [0:1, 0:4]
// CHECK-NEXT:   [[BOTH:%\w+]] = stablehlo.concatenate [[TWO]], [[ZERO]], dim = 0
// CHECK-NEXT:   return [[BOTH]] : tensor<2x4xf32>

// Columns 9 and -1, which are clamped, as rows
func.func @gather_at_constants.columns(%x: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %i = stablehlo.constant dense<[9, -1]> : tensor<2xi32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 3, 1>}> : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// CHECK:      func.func @gather_at_constants.columns([[X:%\w+]]: tensor<3x4xf32>)
// CHECK-NEXT:   [[LAST:%\w+]] = stablehlo.slice [[X]] [0:3, 3:4]
// CHECK-NEXT:   [[FIRST:%\w+]] = stablehlo.slice [[X]] [0:3, 0:1]
// CHECK-NEXT:   [[BOTH:%\w+]] = stablehlo.concatenate [[LAST]], [[FIRST]], dim = 1
// CHECK-NEXT:   [[ROWS:%\w+]] = stablehlo.transpose [[BOTH]], dims = [1, 0]
// CHECK-NEXT:   return [[ROWS]] : tensor<2x3xf32>

// Row 1 of all is chosen anew
func.func @scatter_at_constants(%x: tensor<3x4xf32>, %y: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %i = stablehlo.constant dense<1> : tensor<1x1xi32>
  %z = "stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<1x1xi32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}
// CHECK:      func.func @scatter_at_constants([[X:%\w+]]: tensor<3x4xf32>, [[Y:%\w+]]: tensor<1x4xf32>)
// CHECK-NEXT:   [[ALL:%\w+]] = stablehlo.broadcast_in_dim [[Y]], dims = [0, 1]
// CHECK-NEXT:   [[SUM:%\w+]] = stablehlo.add [[X]], [[ALL]]
// CHECK-NEXT:   [[THERE:%\w+]] = stablehlo.constant dense<{{.*}}> : tensor<3x4xi1>
// CHECK-NEXT:   [[NEW:%\w+]] = stablehlo.select [[THERE]], [[SUM]], [[X]]
// CHECK-NEXT:   return [[NEW]] : tensor<3x4xf32>
