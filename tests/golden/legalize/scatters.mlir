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
