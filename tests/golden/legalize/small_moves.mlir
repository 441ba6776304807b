// RUN: --pipeline "legalize{target=iree-cpu}"

// Gathers and scatters of 128 elements are kernels; of fewer, IREE compiles them with others.
func.func @kernels(%x: tensor<20x8xf32>, %i: tensor<16x1xi32>, %u: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<20x8xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<20x8xf32>, tensor<16x1xi32>) -> tensor<16x8xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<20x8xf32>, tensor<16x1xi32>, tensor<16x8xf32>) -> tensor<20x8xf32>
  return %0, %1 : tensor<16x8xf32>, tensor<20x8xf32>
}
// CHECK-LABEL: func.func @kernels(
// CHECK:         flow.dispatch @gather_
// CHECK:         flow.dispatch @scatter_

func.func @few(%x: tensor<15x8xf32>, %i: tensor<15x1xi32>, %u: tensor<15x8xf32>) -> (tensor<15x8xf32>, tensor<15x8xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<15x8xf32>, tensor<15x1xi32>) -> tensor<15x8xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<15x8xf32>, tensor<15x1xi32>, tensor<15x8xf32>) -> tensor<15x8xf32>
  return %0, %1 : tensor<15x8xf32>, tensor<15x8xf32>
}
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     flow.dispatch
// CHECK:         stablehlo.gather
// CHECK:         stablehlo.scatter
