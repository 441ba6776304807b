// An array that is made for a scatter alone need not be copied: the result may be in its memory, and
// is copied if its address is another.
// RUN: --pipeline "legalize{target=iree-cpu}"
func.func @scatters(%x: tensor<4096xf32>, %i: tensor<50x1xi32>, %u: tensor<50xf32>) -> tensor<4096xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4096xf32>, tensor<50x1xi32>, tensor<50xf32>) -> tensor<4096xf32>
  %1 = "stablehlo.scatter"(%0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4096xf32>, tensor<50x1xi32>, tensor<50xf32>) -> tensor<4096xf32>
  return %1 : tensor<4096xf32>
}
// CHECK:      func.func @[[IN_PLACE:scatter_\w+]]({{.*}}) attributes {in_place = array<i64: 3, 1>
// CHECK:        [[APART:%\w+]] = arith.cmpi ne
// CHECK:        scf.if [[APART]] {
// CHECK:        func.func @[[COPIES:scatter_\w+]]({{.*}}) attributes {translation_info
// CHECK:      func.func @scatters
// CHECK:        [[FIRST:%\w+]] = flow.dispatch @[[COPIES]]::@[[COPIES]](%arg2, %arg0, %arg1)
// CHECK-NEXT:   [[SECOND:%\w+]] = flow.dispatch @[[IN_PLACE]]::@[[IN_PLACE]](%arg2, [[FIRST]], %arg1)
// CHECK-NEXT:   return [[SECOND]]

// Narrow floats are added up in float32, where windows may overlap.
func.func @narrow_scatter(%x: tensor<4xbf16>, %i: tensor<9x1xi32>, %u: tensor<9xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<9x1xi32>, tensor<9xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
// CHECK:      func.func @narrow_scatter
// CHECK-DAG:    [[X:%\w+]] = stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-DAG:    [[U:%\w+]] = stablehlo.convert %arg2 : (tensor<9xbf16>) -> tensor<9xf32>
// CHECK:        [[SUM:%\w+]] = "stablehlo.scatter"([[X]],
// CHECK:        }) : (tensor<4xf32>, tensor<9x1xi32>, tensor<9xf32>) -> tensor<4xf32>
// CHECK:        stablehlo.convert [[SUM]] : (tensor<4xf32>) -> tensor<4xbf16>

// Windows that do not overlap are not rounded twice.
func.func @of_unique_indices(%x: tensor<4xbf16>, %i: tensor<9x1xi32>, %u: tensor<9xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<9x1xi32>, tensor<9xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
// CHECK:      func.func @of_unique_indices
// CHECK-NOT:    -> tensor<4xf32>
// CHECK:        }) : (tensor<4xbf16>, tensor<9x1xi32>, tensor<9xbf16>) -> tensor<4xbf16>
